import type { JsonObject, JsonValue } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { ShownPage } from '../shared/pages/page-content.ts'
import type { Reply } from './reply.ts'

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

/** What a visitor did on a page: the event pins of one of its blocks. */
export interface PageEvent {
  /** Guid of the block. */
  readonly block: string
  /** Values of its event pins, by pin. */
  readonly input: Readonly<Record<string, unknown>>
}

/** What was sent with a form that fits. */
export interface SubmittedForm {
  readonly form: string
  /** By field. */
  readonly values: JsonObject
}

/**
 * One visit of a page, as the run sees it.
 *
 * The flow of a page runs for everything that a visitor does. It ends at `state_render_page`. When the page was only
 * looked at, that is its reply. When a form of it was sent or a button clicked, the page as it is for this visitor says
 * whether that could be; then the run continues at the event's flow pin, in the same frame and the same transaction:
 * what the page's flow has read is there.
 */
export interface PageVisit {
  /** Before the run begins once more after a conflict: as if nothing had happened in the visit yet. */
  beginAgain(): void
  /** Takes the page that is to be shown. True: something else follows, and the page is not the reply. */
  show(page: ShownPage): boolean
  /** After the page's own flow: what goes on, if anything does. */
  proceed(): MaybePromise<PageEvent | undefined>
  /** After the flow of the event: the reply, if it gave none. */
  finish(): Reply | undefined
  /** In the flow of a submit: what was sent. */
  readonly submitted: SubmittedForm | undefined
  /** What was typed into inputs of the type password, whatever their names: for no trace and no log. */
  readonly passwords?: readonly string[]
  /** The bytes of a file that was sent with the form; undefined for any other. */
  readFile?(guid: string): AsyncIterable<Uint8Array> | undefined
}
