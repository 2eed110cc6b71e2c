/** Approvals that wait for a user, as the start page and the API list them. */
import type { Waits } from '../../flows/background/waits.ts'
import type { LiveTable } from '../../flows/live/live-blueprints.ts'
import type { Task } from '../../shared/api/operate/waits.ts'
import type { Search } from '../../shared/query.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { numberIn } from '../../storage/document-fields.ts'
import { detailsOf } from './approval-page.ts'

export async function myTasks(
  waits: Pick<Waits, 'tasks'>,
  table: Pick<LiveTable, 'blueprints'>,
  { scopes }: { readonly scopes: ReadonlySet<string> },
  wanted: Partial<Search>,
): Promise<RecordPage<Task>> {
  const page = await waits.tasks(scopes, wanted)
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
