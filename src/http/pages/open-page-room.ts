import type { Access } from '../../access/access.ts'
import type { Flows } from '../../flows/flows.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import { openPages } from '../../pages/open-pages.ts'
import type { Assets } from '../../records/assets/assets.ts'
import type { SigningSecret } from '../../records/secrets/signing-secret.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Idempotency } from '../endpoints/endpoint-idempotency.ts'
import type { StorageNews } from '../live/storage-news.ts'
import { cellRooms } from './cell-rooms.ts'
import type { RulesOf } from './field-rules-of.ts'
import { openKeptForms } from './kept-forms.ts'
import { openPageEvents } from './page-events.ts'
import { formTokens } from './page-origin.ts'
import type { PageRoom } from './page-room.ts'
import { pageTemplates } from './page-templates.ts'

export interface PageRoomOptions {
  readonly access: Access
  readonly flows: Pick<Flows, 'live' | 'log' | 'newGuid' | 'permissions' | 'environment'>
  readonly runs: Pick<Runs, 'run'>
  readonly database: Database
  readonly assets: Assets
  readonly clock: Clock
  readonly secret: SigningSecret
  readonly idempotency: Idempotency
  readonly rulesOf: RulesOf
  readonly news: StorageNews
}

export async function openPageRoom({ news, ...given }: PageRoomOptions): Promise<PageRoom> {
  const { secret, flows, clock } = given
  return {
    ...given,
    pages: await openPages(given.clock),
    tokens: formTokens(secret, given.flows.newGuid),
    keptForms: await openKeptForms(given.database, secret, given.clock),
    templates: pageTemplates(given.database),
    cells: cellRooms({ values: flows.environment.values, clock, log: flows.log }),
    events: openPageEvents(news, given.flows.live, given.flows.newGuid),
  }
}
