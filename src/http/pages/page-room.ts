import type { Access } from '../../access/access.ts'
import type { CellRoom } from '../../blocks/table-cells.ts'
import type { Flows } from '../../flows/flows.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import type { Pages } from '../../pages/open-pages.ts'
import type { Assets } from '../../records/assets/assets.ts'
import type { SigningSecret } from '../../records/secrets/signing-secret.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Idempotency } from '../endpoints/endpoint-idempotency.ts'
import type { RulesOf } from './field-rules-of.ts'
import type { KeptForms } from './kept-forms.ts'
import type { PageEvents } from './page-events.ts'
import type { FormTokens } from './page-origin.ts'
import type { PageTemplates } from './page-templates.ts'

/** What everything about pages works with. */
export interface PageRoom {
  readonly access: Access
  readonly flows: Pick<Flows, 'live' | 'log' | 'newGuid' | 'permissions' | 'environment'>
  readonly runs: Pick<Runs, 'run'>
  readonly database: Database
  readonly assets: Assets
  readonly clock: Clock
  readonly pages: Pages
  readonly idempotency: Idempotency
  readonly rulesOf: RulesOf
  readonly secret: SigningSecret
  readonly tokens: FormTokens
  readonly keptForms: KeptForms
  readonly templates: PageTemplates
  readonly events: PageEvents
  /** What the cells of tables are calculated with, now. */
  readonly cells: () => CellRoom
}
