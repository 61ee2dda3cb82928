import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A private key and its certificate, as PEM text. */
export interface Leaf {
  readonly key: string;
  readonly cert: string;
}

/** A certificate authority, with a leaf for localhost, 127.0.0.1 and ::1. */
export interface Authority extends Leaf {
  /** The authority's certificate as PEM text: what a client has to trust. */
  readonly ca: string;
  /** Issues a further leaf. Names are as in openssl: `DNS:hooks.test`, `IP:127.0.0.1`. */
  issue(names: readonly string[], options?: { readonly expired?: boolean }): Leaf;
}

const NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/** Makes an authority with the `openssl` command; the files stay in `dir`. */
export function makeAuthority(dir: string): Authority {
  const openssl = (command: string, ...args: readonly string[]): void => {
    const words = [...command.split(" "), ...args];
    const { success, stderr } = Bun.spawnSync(["openssl", ...words], { cwd: dir });
    if (!success) throw new Error(`Cannot run "openssl ${words.join(" ")}": ${stderr.toString()}`);
  };
  const read = (file: string): string => readFileSync(join(dir, file), "utf8");

  const root = `authority-${crypto.randomUUID()}`;
  openssl(
    `req -x509 -days 30 ${NEW_KEY} -keyout ${root}.key -out ${root}.pem -subj /CN=${root}`,
    ...["-addext", "basicConstraints=critical,CA:TRUE"],
    ...["-addext", "keyUsage=critical,keyCertSign,cRLSign"],
  );

  let serial = 0;
  const issue: Authority["issue"] = (names, { expired = false } = {}) => {
    serial += 1;
    const leaf = `${root}-${serial}`;
    const extensions = `subjectAltName=${names.join(",")}\nextendedKeyUsage=serverAuth\n`;
    writeFileSync(join(dir, `${leaf}.ext`), extensions);
    openssl(`req -new ${NEW_KEY} -keyout ${leaf}.key -out ${leaf}.csr -subj /CN=leaf`);
    openssl(
      `x509 -req -in ${leaf}.csr -out ${leaf}.pem -CA ${root}.pem -CAkey ${root}.key ` +
        `-set_serial ${serial} -extfile ${leaf}.ext -days ${expired ? -1 : 30}`,
    );
    return { key: read(`${leaf}.key`), cert: read(`${leaf}.pem`) };
  };
  return { ca: read(`${root}.pem`), ...issue(["DNS:localhost", "IP:127.0.0.1", "IP:::1"]), issue };
}
