import type { JsonObject } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { ShownPage } from '../shared/pages/page-content.ts'
import type { Reply } from './reply.ts'

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
