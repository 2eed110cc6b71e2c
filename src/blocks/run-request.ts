import type { JsonObject, JsonValue } from '../shared/json.ts'
import type { PageVisit } from './page-visit.ts'

/** Why a signature is refused, for the flow: the client hears nothing of it. */
export type SignatureRefusal = 'missing' | 'too_old' | 'wrong'

export type SignatureFinding = 'valid' | SignatureRefusal

/**
 * What checks of the signature found, by the guid of their block and in order. A record of the run masks the signature, and its
 * time passes, so a run that is repeated is told what was found and does not check again.
 */
export interface CheckedSignatures {
  readonly found: Record<string, readonly SignatureFinding[]>
  /** Of the run that is repeated. */
  readonly recorded?: Readonly<Record<string, readonly SignatureFinding[]>>
}

/** The request that started a run: what a `connection` pin carries. */
export interface RunRequest {
  readonly method: string
  /** Path and query as they were sent. */
  readonly url: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly ip: string
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /** Parameters of the path, decoded. */
  readonly path: Readonly<Record<string, string>>
  readonly body: JsonValue | undefined
  /** The body as it was sent; empty without one. Only where a block of the endpoint's blueprint needs it. */
  readonly rawBody?: Uint8Array
  readonly signatures?: CheckedSignatures
  /** The signed-in user's document without secrets. */
  readonly user: JsonObject | undefined
  /** What the signed-in user may do: scopes held directly and through groups; `*` stands for all. */
  readonly scopes?: ReadonlySet<string>
  /** When it came, in milliseconds, where it is sent again later. */
  readonly received?: number
  /** When a page is visited. */
  readonly visit?: PageVisit
}
