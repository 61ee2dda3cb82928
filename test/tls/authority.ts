import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

import ipaddr from "ipaddr.js";

/** A private key and its certificate, as PEM text. */
export interface Leaf {
  readonly key: string;
  readonly cert: string;
}

/** A certificate authority, with a leaf for localhost, 127.0.0.1 and ::1. */
export interface Authority extends Leaf {
  /** The authority's certificate as PEM text: what a client has to trust. */
  readonly ca: string;
  /** Issues a further leaf. Names are such as `DNS:hooks.test`, `IP:127.0.0.1`. */
  issue(names: readonly string[], options?: { readonly expired?: boolean }): Leaf;
}

/** Makes an authority, without any tool: a machine that runs the tests needs no openssl. */
export function makeAuthority(): Authority {
  const name = `authority-${crypto.randomUUID()}`;
  const root = newKey();
  const signed = { issuer: name, by: root.privateKey };
  const ca = certificate({
    ...signed,
    subject: name,
    key: root.publicKey,
    extensions: [
      extension("551d13", true, sequence(der(0x01, Buffer.from([0xff])))), // basicConstraints: CA
      extension("551d0f", true, der(0x03, Buffer.from([0x01, 0x06]))), // keyUsage: keyCertSign, cRLSign
    ],
  });
  const issue: Authority["issue"] = (names, { expired = false } = {}) => {
    const { publicKey, privateKey } = newKey();
    const cert = certificate({
      ...signed,
      subject: "leaf",
      key: publicKey,
      expired,
      extensions: [
        extension("551d11", false, sequence(...names.map(alternative))), // subjectAltName
        extension("551d25", false, sequence(oid("2b06010505070301"))), // extKeyUsage: serverAuth
      ],
    });
    return { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert };
  };
  return { ca, ...issue(["DNS:localhost", "IP:127.0.0.1", "IP:::1"]), issue };
}

const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

interface Wanted {
  readonly issuer: string;
  readonly by: KeyObject;
  readonly subject: string;
  readonly key: KeyObject;
  readonly expired?: boolean;
  readonly extensions: readonly Buffer[];
}

/** A certificate of X.509 version 3 (RFC 5280 §4.1), as PEM text. */
function certificate({ issuer, by, subject, key, expired = false, extensions }: Wanted): string {
  const algorithm = sequence(oid("2a8648ce3d040302")); // ecdsa-with-SHA256
  const time = (year: string): Buffer => der(0x17, Buffer.from(`${year}0101000000Z`));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // Positive, and without a zero before it.
    der(0x02, Buffer.from([0x40]), randomBytes(15)),
    algorithm,
    commonName(issuer),
    sequence(time("20"), time(expired ? "21" : "49")),
    commonName(subject),
    key.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const whole = sequence(body, algorithm, bits(sign("sha256", body, by)));
  const lines = whole.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function alternative(name: string): Buffer {
  const [, kind, value = ""] = /^(DNS|IP):(.+)$/.exec(name) ?? [];
  if (kind === "DNS") return der(0x82, Buffer.from(value));
  return der(0x87, Buffer.from(ipaddr.parse(value).toByteArray()));
}

/** A value of ASN.1 with its tag and its length (X.690). */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  const size = length < 128 ? [length] : long;
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const bits = (value: Uint8Array): Buffer => der(0x03, Buffer.from([0]), value);
const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name)))));
const extension = (hex: string, critical: boolean, value: Buffer): Buffer =>
  sequence(oid(hex), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));
