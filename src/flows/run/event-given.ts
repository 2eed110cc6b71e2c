import type { Happening } from '../../blocks/block.ts'
import { isDocumentEvent } from '../../blocks/document-event.ts'
import { changedKeys, documentRevisions } from '../../records/documents/document-revisions.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { Job } from '../../storage/job.ts'

/** What the trigger of a storage event gets of its job. A state that was too large for the job is read as it is now. */
export async function eventGiven(
  database: Pick<Database, 'session'>,
  { guid, payload }: Pick<Job, 'guid' | 'payload'>,
): Promise<Happening['storage']> {
  const event: unknown = payload.event
  if (!isDocumentEvent(event))
    throw new TypeError(`The job ${guid} is for the unknown event ${String(event)}.`)
  const previous = parsed(textIn(payload.before))
  const deleted = payload.change === 'deleted'
  const document = deleted ? previous : (parsed(textIn(payload.after)) ?? (await read(database, payload)))
  // Without the former state every field would look as if it were new.
  const compared = document && !deleted && (previous !== undefined || payload.change === 'created')
  const revisions = compared ? documentRevisions(previous, document) : []
  return { event, document, previous, fieldsModified: changedKeys(revisions), revisions, job: guid }
}

/** Text that a storage wrote. */
function parsed(text: string): JsonObject | undefined {
  const value: unknown = text === '' ? undefined : JSON.parse(text)
  return isJsonObject(value) ? value : undefined
}

async function read(
  database: Pick<Database, 'session'>,
  payload: JsonObject,
): Promise<JsonObject | undefined> {
  const options = { removed: true }
  const stored = await database.session().get(textIn(payload.storage), textIn(payload.guid), options)
  return stored && documentOf(stored)
}
