/** Approvals that wait for a user, as the start page and the API list them. */
import type { Task } from '../../shared/api/operate/waits.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { Search } from '../../shared/query.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { numberIn, textIn } from '../../storage/document-fields.ts'
import type { LiveTable } from '../live/live-blueprints.ts'
import type { WaitRecord } from '../run/wait-record.ts'
import type { Waits } from './waits.ts'

export async function myTasks(
  waits: Pick<Waits, 'tasks'>,
  table: Pick<LiveTable, 'blueprints'>,
  { scopes }: { readonly scopes: ReadonlySet<string> },
  requested: Partial<Search>,
): Promise<RecordPage<Task>> {
  const page = await waits.tasks(scopes, requested)
  const records = page.records.map((wait): Task => {
    const { guid, blueprint, until, meta } = wait
    const { title, text } = detailsOf(wait)
    return {
      ...{ guid, title, text, created: numberIn(meta.created), page: `/_approvals/${guid}` },
      blueprint: table.blueprints.get(blueprint)?.name ?? '',
      until: until === null ? null : Math.floor(until / 1000),
    }
  })
  return { ...page, records }
}

/** What the block says on the page of the approval. */
export function detailsOf({ details }: WaitRecord) {
  const { title, text, fields } = isJsonObject(details) ? details : {}
  return { title: textIn(title), text: textIn(text), fields: isJsonObject(fields) ? fields : {} }
}
