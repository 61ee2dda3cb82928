/** How the way out is set up, once per process. */
export interface EgressOptions {
  /** Private addresses that may be reached all the same, as CIDRs; a bare address is a CIDR of one. */
  readonly allow: readonly string[];
  /** Extra certificate authorities as PEM text, added to those the system trusts. */
  readonly ca?: string;
  /** Replaces the name lookup, for tests. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Requests at once over all callers, 128 by default. Bun itself queues silently past 256. */
  readonly max?: number;
}

/** One request. The deadline starts when a slot is free and covers name, connection, TLS and answer. */
export interface EgressRequest {
  /** In upper case. */
  readonly method: string;
  /** `https` only. */
  readonly url: string;
  /** Sent as given. What HTTP itself needs (`host`, `content-length` and the like) is added here. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly deadline_ms: number;
  /** How much of the answer's body is kept, 16 KiB by default. */
  readonly max_bytes?: number;
  /** Ends the request early: the server is shutting down. */
  readonly signal?: AbortSignal;
}

/** Why there is no answer. */
export type EgressReason =
  | "blocked_address"
  | "name_not_resolved"
  | "timeout"
  | "connection"
  | "tls"
  | "protocol"
  | "aborted";

/** What came of a request. A status that arrived within the deadline is an answer, whatever it is. */
export type EgressAnswer =
  | {
      readonly kind: "answer";
      readonly status: number;
      /** Names in lower case, 16 KiB at most over all; repeated ones are joined by a comma. */
      readonly headers: Readonly<Record<string, string>>;
      /** The bytes as sent, never decompressed. */
      readonly body: Uint8Array;
      /** Is there more of the body than was kept, or did it end too early? */
      readonly truncated: boolean;
      /** The address that answered. */
      readonly address: string;
      readonly duration_ms: number;
    }
  | {
      readonly kind: "failure";
      readonly reason: EgressReason;
      /** One sentence for people. It names the host, never the path, which may hold a secret. */
      readonly message: string;
      /** The address that was tried last; null where it came to none. */
      readonly address: string | null;
      readonly duration_ms: number;
    };

/** What is wrong with a URL. */
export type UrlFault = "not_https" | "invalid" | "forbidden";

/** The way out. */
export interface Egress {
  /** Sends a request. It never throws: every fault is a `failure`. */
  request(request: EgressRequest): Promise<EgressAnswer>;
  /** Judges a URL before it is stored: undefined where fine. Names are not resolved, they are judged at each send. */
  judge(url: string): UrlFault | undefined;
}
