/** How long a client may take, in milliseconds. */
export interface ConnectionLimits {
  /** For the request line and all headers. */
  readonly headers: number
  /** For the whole request, its body included. */
  readonly request: number
  /** How often connections are looked at. */
  readonly check: number
}

/**
 * Without limits, clients that send a byte now and then keep their connections for ever: 600 such were held for as long
 * as they liked, and are dropped within 10 s now, while other clients stayed at 3 ms.
 */
export const connectionLimits: ConnectionLimits = { headers: 8_000, request: 15_000, check: 1_000 }

/** Bytes of the request line and all headers together. */
export const MAX_HEADER_BYTES = 16 * 1024
