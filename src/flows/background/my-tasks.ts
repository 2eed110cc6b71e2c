/** Approvals that wait for a user, as the start page and the API list them. */
import type { Task } from '../../shared/api/operate/waits.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { Search } from '../../shared/query.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { numberIn, textIn } from '../../storage/document-fields.ts'
import type { LiveTable } from '../live/live-blueprints.ts'
import type { WaitRecord } from '../run/wait-record.ts'
import type { Waits } from './waits.ts'

/** What waits for a user beside runs: pushes that need a second person. */
export interface OtherTasks {
  tasks(user: { readonly guid: string; readonly scopes: ReadonlySet<string> }): Promise<readonly Task[]>
}

export async function myTasks(
  waits: Pick<Waits, 'tasks'>,
  table: Pick<LiveTable, 'blueprints'>,
  { scopes }: { readonly scopes: ReadonlySet<string> },
  requested: Partial<Search>,
  /** What is listed before them. */
  ahead: readonly Task[] = [],
): Promise<RecordPage<Task>> {
  const { limit = ahead.length + 1, offset = 0, after } = requested
  // A page has at least one wait: the next page begins behind it.
  const shown = after === undefined ? ahead.slice(offset, offset + limit - 1) : []
  const page = await waits.tasks(scopes, {
    ...requested,
    ...{ limit: limit - shown.length, offset: Math.max(0, offset - ahead.length) },
  })
  const records = page.records.map((wait): Task => {
    const { guid, blueprint, until, meta } = wait
    const { title, text } = detailsOf(wait)
    return {
      ...{ guid, title, text, created: numberIn(meta.created), page: `/_approvals/${guid}` },
      blueprint: table.blueprints.get(blueprint)?.name ?? '',
      until: until === null ? null : Math.floor(until / 1000),
    }
  })
  const total = page.total === undefined ? {} : { total: page.total + ahead.length }
  return { ...page, ...total, records: [...shown, ...records] }
}

/** What the block says on the page of the approval. */
export function detailsOf({ details }: WaitRecord) {
  const { title, text, fields } = isJsonObject(details) ? details : {}
  return { title: textIn(title), text: textIn(text), fields: isJsonObject(fields) ? fields : {} }
}
