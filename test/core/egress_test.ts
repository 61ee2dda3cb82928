import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { createEgress } from "../../core/egress/mod.ts";
import { startReceiver, startSilentPort } from "../tls.ts";
import { answered, type EgressFixture, failed, startFixture } from "./egress_fixture.ts";

const PUBLIC = `
  1.1.1.1 8.8.8.8 93.184.216.34 172.15.255.255 172.32.0.1 192.167.255.255 100.63.255.255 100.128.0.1
  169.253.1.1 198.17.0.1 223.255.255.255 ::ffff:8.8.8.8 2001:4860:4860::8888 2606:4700::1111 2a00:1450::1
`;
const PRIVATE = `
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 169.254.0.1
  169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1
  198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::7f00:1 ::8.8.8.8
  ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::808:808
  64:ff9b:1::1 100::1 2001::1 2001:db8::1 2001:2::1 2001:20::1 2002:7f00:1:: 2002:808:808:: 3fff::1
  4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1
`;
const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const literal = (address: string): string =>
  `https://${address.includes(":") ? `[${address}]` : address}/`;

describe("judge()", () => {
  const egress = createEgress({ allow: [] });

  test.each(words(PUBLIC))("lets the public address %s pass", (address) => {
    expect(egress.judge(literal(address))).toBeUndefined();
  });

  test.each(words(PRIVATE))("forbids %s", (address) => {
    expect(egress.judge(literal(address))).toBe("forbidden");
  });

  test.each([
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0x7f000001/",
    "https://127.1/",
    "https://0177.0.0.1/",
    "https://%31%32%37.0.0.1/",
    "https://①②⑦.0.0.1/",
    "https://127。0。0。1/",
    "https://127.0.0.1./",
    "https://0/",
    "https:/127.1",
    "HTTPS://127.0.0.1:8443/a?b",
    "https://[0:0:0:0:0:FFFF:7F00:1]/",
  ])("sees through the spelling %s", (url) => {
    expect(egress.judge(url)).toBe("forbidden");
  });

  test("tells what is not https from what is no URL it can use", () => {
    for (const url of ["http://example.com/", "ftp://example.com/", "file:///etc/passwd"]) {
      expect([url, egress.judge(url)]).toEqual([url, "not_https"]);
    }
    for (const url of [
      "",
      "example.com",
      "https://",
      "https://user@example.com/",
      "https://user:password@example.com/",
      "https://:password@example.com/",
      "https://example.com:70000/",
      "https://1.2.3.4.5/",
      "https://[fe80::1%25eth0]/",
      " https://example.com/",
      "https://example.com/\r\nX: y",
    ]) {
      expect([url, egress.judge(url)]).toEqual([url, "invalid"]);
    }
  });

  test("accepts any name and any port, for names are judged at each send", () => {
    for (const host of ["example.com", "localhost", "nas.local", "localhost.", "intranet:8443"]) {
      expect(egress.judge(`https://${host}/hook`)).toBeUndefined();
    }
  });

  test("lets private addresses pass that are allowed, and only those", () => {
    const lan = createEgress({
      allow: ["192.168.1.0/24", "10.0.0.7", "fd00:1::/32"],
    });
    const fine = "192.168.1.9 10.0.0.7 ::ffff:192.168.1.9 fd00:1:2::3 8.8.8.8";
    for (const address of words(fine)) expect(lan.judge(literal(address))).toBeUndefined();
    const not = "192.168.2.9 10.0.0.8 fd00:2::3 ::1 127.0.0.1";
    for (const address of words(not)) expect(lan.judge(literal(address))).toBe("forbidden");
  });
});

describe("createEgress()", () => {
  test.each([
    "",
    "localhost",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0/8",
    "10.0.0.0/8/8",
    "fe80::1%1/64",
    "::ffff:0:0/0",
    "::ffff:10.0.0.0/104",
  ])('refuses "%s" as a CIDR and says so', (range) => {
    expect(() => createEgress({ allow: [range] })).toThrow(`Cannot read "${range}" as a CIDR`);
  });

  test("refuses authorities that are no certificates", () => {
    const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
    for (const ca of ["", "/etc/ca.pem", broken]) {
      expect(() => createEgress({ allow: [], ca })).toThrow("PEM certificates are expected");
    }
  });

  test("refuses a limit below one", () => {
    for (const max of [0, -1, 1.5, Number.NaN]) {
      expect(() => createEgress({ allow: [], max })).toThrow(RangeError);
    }
  });
});

describe("request() judges addresses", () => {
  let fixture: EgressFixture;
  beforeAll(async () => {
    fixture = await startFixture();
  });
  afterAll(() => fixture.close());

  test("each time: a name that leads to a private address is blocked", async () => {
    for (const address of [...words(PRIVATE), "fe80::1%lo", "127.1", "localhost", ""]) {
      const egress = fixture.open({ allow: [], resolve: async () => [address] });
      const { reason, address: dialled } = await failed(egress, "https://hooks.test/");
      expect([address, reason, dialled]).toEqual([address, "blocked_address", null]);
    }
  });

  test("and literals too, naming the setting that would allow them", async () => {
    const canary = await startSilentPort();
    const egress = fixture.open({ allow: [] });
    for (const host of ["127.0.0.1", "2130706433", "[::ffff:7f00:1]"]) {
      const failure = await failed(egress, `https://${host}:${canary.port}/`);
      expect(failure.reason).toBe("blocked_address");
      expect(failure.message).toContain("INNKEEP_EGRESS_ALLOW");
    }
    expect(canary.connections).toBe(0);
    await canary.close();
  });

  test("and faults of the URL are failures, not throws", async () => {
    const egress = fixture.open();
    for (const url of ["http://hooks.test/", "no URL", "https://user:password@hooks.test/"]) {
      expect((await failed(egress, url)).reason).toBe("protocol");
    }
  });

  // 127.0.0.2 stands for the public address here, 127.0.0.1 for the private one with the canary.
  test("so that a name which turns private after the first look reaches nothing", async () => {
    const receiver = await startReceiver({
      ...fixture.authority.issue(["DNS:hooks.test"]),
      host: "127.0.0.2",
    });
    const canary = await startSilentPort("127.0.0.1", receiver.port);
    const looks = [["127.0.0.2"], ["127.0.0.1"], ["127.0.0.1", "127.0.0.2"]];
    const egress = fixture.open({
      allow: ["127.0.0.2/32"],
      resolve: async () => looks.shift() ?? [],
    });
    const url = receiver.url("/", "hooks.test");

    expect(await answered(egress, url)).toMatchObject({ status: 200, address: "127.0.0.2" });
    expect(await failed(egress, url)).toMatchObject({ reason: "blocked_address", address: null });
    // Mixed: the blocked one is left out, whichever comes first.
    expect(await answered(egress, url)).toMatchObject({ status: 200, address: "127.0.0.2" });
    expect(receiver.hits.length).toBe(2);
    expect(canary.connections).toBe(0);
    await canary.close();
    await receiver.close();
  });
});
