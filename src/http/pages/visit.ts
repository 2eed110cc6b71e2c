/**
 * One visit of a page: what a run asks of it (see `blocks/run-request.ts`), and what came of it.
 *
 * A visit that only looks does nothing here. One that sent something goes: the page's flow shows the page, which is kept
 * and not sent → what was sent is looked up in that page, so that no visitor can send a form or click a button that the page
 * does not have for them → a form is read by its fields; what does not fit refuses it, and the run ends → the event goes on.
 */
import type { Reply } from '../../blocks/reply.ts'
import type { PageEvent, PageVisit, SubmittedForm } from '../../blocks/run-request.ts'
import type { PageMessages } from '../../pages/messages.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { everyNode, type PageButton, type PageForm, type ShownPage } from '../../shared/pages/page-content.ts'
import type { DataTable } from '../../shared/pages/page-table.ts'
import { buttonValue, dataTablesOf, type RefusedForm } from './complete-page.ts'
import { fieldsOf, type RulesOf } from './field-rules-of.ts'
import { type Posted, sentNames } from './posted.ts'
import { type ReadForm, readForm } from './read-form.ts'

export interface VisitTools {
  readonly rulesOf: RulesOf
  readonly messages: PageMessages
  /** Of times that are typed. */
  readonly timeZone: string
  /** Stores the files of a form that fits; gives its values with them. */
  storeFiles(read: ReadForm): Promise<JsonObject>
  readFile(guid: string): AsyncIterable<Uint8Array> | undefined
  /** The page as the rules of storages show it to the visitor. */
  permitted(page: ShownPage): Promise<ShownPage>
  /** Whether all of these documents are among those that the table shows. */
  areShown(table: DataTable, guids: readonly string[]): Promise<boolean>
  /** The form was sent too late, or by another user: it is shown again. */
  readonly expired: boolean
  /** Forms that the door answers itself, by their ids: those for signing in and out. */
  readonly ownForms: ReadonlySet<string>
}

const MAX_ROWS = 500

export class Visit implements PageVisit {
  submitted: SubmittedForm | undefined
  /** The page as it was when something on it was sent. */
  page: ShownPage | undefined
  /** Why the form was not taken. */
  refused: RefusedForm | undefined
  /** A form that the door answers itself, when the run is over. */
  own: SubmittedForm | undefined
  /** What was typed into inputs of the type password. */
  passwords: readonly string[] = []
  /** Set when the run replies. */
  replied = false
  readonly #posted: Posted | undefined
  readonly #tools: VisitTools
  readonly #here: string
  #proceeded = false

  /** `posted` undefined: the page is only looked at. `here`: where the browser goes when an event's flow does not say. */
  constructor(posted: Posted | undefined, tools: VisitTools, here: string) {
    this.#posted = posted
    this.#tools = tools
    this.#here = here
  }

  beginAgain(): void {
    this.submitted = undefined
    this.page = undefined
    this.refused = undefined
    this.own = undefined
    this.replied = false
    this.#proceeded = false
  }

  show(page: ShownPage): boolean {
    if (this.#posted === undefined || this.#proceeded) return false
    this.page ??= page
    return true
  }

  async #decide(made: ShownPage, posted: Posted): Promise<PageEvent | undefined> {
    const page = await this.#tools.permitted(made)
    const table = this.#tools.expired ? undefined : posted.first(sentNames.table)
    if (table !== undefined) return this.#rowAction(dataTablesOf(page.content), table, posted)
    const id = posted.first(sentNames.form)
    const clicked = posted.first(sentNames.button)
    const form = id === undefined ? undefined : findForm(page, id)
    if (this.#tools.expired) {
      this.refused = {
        form: form?.id,
        posted,
        errors: new Map(),
        messages: [this.#tools.messages('form.expired')],
      }
      return undefined
    }
    if (id !== undefined && !form) throw gone()
    if (!form) return { block: findButton(page, clicked).block ?? '', input: { clicked: valueIn(clicked) } }
    const button = clicked === undefined ? undefined : findButton({ content: form.content }, clicked)
    if (button?.action === 'action')
      return { block: button.block ?? '', input: { clicked: button.value ?? '', values: {} } }
    const fieldOf = await fieldsOf([form], this.#tools.rulesOf)
    const read = readForm(form, posted, fieldOf, this.#tools)
    this.passwords = read.passwords
    if (read.errors.size > 0) {
      this.refused = { form: form.id, posted, errors: read.errors, messages: [] }
      return undefined
    }
    if (this.#tools.ownForms.has(form.id)) {
      const proof = posted.first(sentNames.proof) ?? ''
      this.own = { form: form.id, values: { ...read.values, [sentNames.proof]: proof } }
      return undefined
    }
    const values = await this.#tools.storeFiles(read)
    this.submitted = { form: form.id, values }
    if (button) return { block: button.block ?? '', input: { clicked: button.value ?? '', values } }
    return { block: form.block, input: { values } }
  }

  async #rowAction(tables: readonly DataTable[], id: string, posted: Posted): Promise<PageEvent | undefined> {
    const table = tables.find((one) => one.id === id)
    if (!table) throw gone()
    const single = posted.first(sentNames.row)
    const at = single?.indexOf(' ') ?? -1
    const name = single === undefined ? posted.first(sentNames.bulk) : single.slice(0, at)
    const guids = single === undefined ? [...new Set(posted.all(sentNames.rows))] : [single.slice(at + 1)]
    const place = single === undefined ? 'rows' : 'row'
    const action = table.actions.find((one) => one.name === name && (one.for === place || one.for === 'both'))
    if (!action) throw gone()
    // A button for the chosen rows when none was chosen: the page is simply shown again.
    if (guids.length === 0) return undefined
    if (guids.length > MAX_ROWS || !(await this.#tools.areShown(table, guids))) throw gone()
    return { block: table.block, input: { action: action.name, guid: guids[0] ?? '', guids } }
  }

  proceed(): MaybePromise<PageEvent | undefined> {
    this.#proceeded = true
    if (this.#posted === undefined || this.page === undefined) return undefined
    return this.#decide(this.page, this.#posted)
  }

  readFile(guid: string): AsyncIterable<Uint8Array> | undefined {
    return this.#tools.readFile(guid)
  }

  finish(): Reply | undefined {
    if (this.replied) return undefined
    const page = { kind: 'redirect', to: this.#here, notice: undefined } as const
    return { code: 303, value: undefined, headers: {}, page }
  }
}

function findForm({ content }: Pick<ShownPage, 'content'>, id: string): PageForm | undefined {
  for (const node of everyNode(content)) if (node.kind === 'form' && node.id === id) return node
  return undefined
}

function findButton({ content }: Pick<ShownPage, 'content'>, sent: string | undefined): PageButton {
  for (const node of everyNode(content))
    if (node.kind === 'button' && sent !== undefined && buttonValue(node) === sent) return node
  throw gone()
}

function valueIn(clicked: string | undefined): string {
  return clicked?.slice(clicked.indexOf(' ') + 1) ?? ''
}

/** What was sent is not on the page any more: it is another page by now, or was never there for this visitor. */
function gone(): QuoinError {
  return new QuoinError('CONFLICT', 'The page has changed. Open it again.')
}
