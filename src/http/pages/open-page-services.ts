import { hash } from 'node:crypto'
import type { Access } from '../../access/access.ts'
import type { CellContext } from '../../blocks/table-cells.ts'
import type { Flows } from '../../flows/flows.ts'
import { providerRequests } from '../../flows/provider-requests.ts'
import type { RunEnvironment } from '../../flows/run/run-environment.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import { type ProviderClient, providerClient } from '../../identity/provider-client.ts'
import { readTemplate } from '../../pages/read-template.ts'
import { openPages, type Pages } from '../../pages/render-page.ts'
import type { Assets } from '../../records/assets/assets.ts'
import type { SigningSecret } from '../../records/secrets/signing-secret.ts'
import type { SystemLog } from '../../records/system-log.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Random } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import type { PageTemplate } from '../../shared/pages/page-content.ts'
import { normalizedText } from '../../shared/texts/normalized-text.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { Idempotency } from '../endpoints/endpoint-idempotency.ts'
import type { ChangeFeed } from '../live/streams.ts'
import type { RulesOf } from './field-rules-of.ts'
import { openPageEvents, type PageEvents } from './page-events.ts'
import { type FormTokens, formTokens } from './page-origin.ts'
import { openSavedForms, type SavedForms } from './saved-forms.ts'

/** Failures that have been logged in the last hour. */
const MAX_REPORTED = 1_000
const HOUR = 3_600_000

interface CellContextParts {
  readonly values: Pick<RunEnvironment['values'], 'timeZone' | 'locale'>
  readonly clock: Clock
  readonly log: Pick<SystemLog, 'write'>
}

/** What cells of tables on pages are calculated with. The log hears of each failure once an hour: every visit has it again. */
function cellContexts({ values, clock, log }: CellContextParts): () => CellContext {
  const reported = lruCache<string, true>(MAX_REPORTED)
  let hour = 0
  return () => {
    const now = clock()
    return {
      ...{ timeZone: values.timeZone, locale: values.locale, now },
      failed({ block, column, message }) {
        const present = Math.floor(now / HOUR)
        if (present !== hour) reported.clear()
        hour = present
        const key = `${block} ${column}`
        if (reported.get(key)) return
        reported.set(key, true)
        log.write({ level: 'warn', message, ...(block !== '' && { block }), pin: 'columns' })
      },
    }
  }
}

export interface PageServicesOptions {
  readonly access: Access
  readonly flows: Pick<Flows, 'live' | 'log' | 'newGuid' | 'permissions' | 'environment'>
  readonly runs: Pick<Runs, 'run'>
  readonly database: Database
  readonly assets: Assets
  readonly clock: Clock
  readonly secret: SigningSecret
  readonly random: Random
  readonly idempotency: Idempotency
  readonly rulesOf: RulesOf
  readonly news: ChangeFeed
  /** Of the application, at the top of pages without a template; may be empty. */
  readonly siteName: string
}

export async function openPageServices({ news, ...input }: PageServicesOptions): Promise<PageServices> {
  const { secret, flows, clock } = input
  return {
    ...input,
    provider: providerClient({ ...providerRequests(flows), clock }),
    pages: await openPages(input.clock, input.siteName),
    tokens: formTokens(secret, input.flows.newGuid),
    savedForms: await openSavedForms(input.database, secret, input.clock),
    templates: pageTemplates(input.database),
    cells: cellContexts({ values: flows.environment.values, clock, log: flows.log }),
    events: openPageEvents(news, input.flows.live, input.flows.newGuid),
  }
}

/** What everything about pages works with. */
export interface PageServices {
  readonly access: Access
  /** Talks to providers that users sign in with. */
  readonly provider: ProviderClient
  readonly flows: Pick<Flows, 'live' | 'log' | 'newGuid' | 'permissions' | 'environment'>
  readonly runs: Pick<Runs, 'run'>
  readonly database: Database
  readonly assets: Assets
  readonly clock: Clock
  readonly pages: Pages
  readonly siteName: string
  readonly idempotency: Idempotency
  readonly rulesOf: RulesOf
  readonly secret: SigningSecret
  readonly random: Random
  readonly tokens: FormTokens
  readonly savedForms: SavedForms
  readonly templates: PageTemplates
  readonly events: PageEvents
  /** What the cells of tables are calculated with, now. */
  readonly cells: () => CellContext
}

interface PageTemplates {
  /** Undefined if there is none of this name. */
  find(name: string): Promise<PageTemplate | undefined>
  /** The style or script behind an address that `find` gave; undefined when it is of another version. */
  file(name: string): Promise<{ readonly type: string; readonly text: string } | undefined>
}

export const TEMPLATE_FILES = 'templates/'

/** Page templates as pages use them. Read for each page: one indexed read, and no node is behind the others. */
function pageTemplates(database: Database): PageTemplates {
  const partsOf = (record: JsonObject) => ({
    name: textIn(record.name),
    content: textIn(record.content),
    css: textIn(record.css),
  })
  const address = (record: JsonObject, text: string, ending: string) =>
    text === '' ? undefined : `/_pages/${TEMPLATE_FILES}${guidOf(record)}.${hashOf(text)}.${ending}`
  return {
    async find(name) {
      const key = normalizedText(name, 'NFKC').toLowerCase()
      const record = await findOne(database.session(), systemStorages.templates, 'name_key', key)
      if (!record) return undefined
      const { settings, css } = readTemplate(partsOf(record))
      return {
        name: textIn(record.name),
        settings,
        css: address(record, css, 'css'),
        js: address(record, textIn(record.js), 'js'),
      }
    },
    async file(name) {
      const [, guid, requested, ending] =
        /^templates\/([A-Za-z0-9-]+)\.([A-Za-z0-9_-]+)\.(css|js)$/.exec(name) ?? []
      const stored =
        guid === undefined ? undefined : await database.session().get(systemStorages.templates, guid)
      if (!stored) return undefined
      const record = documentOf(stored)
      const text = ending === 'js' ? textIn(record.js) : readTemplate(partsOf(record)).css
      if (hashOf(text) !== requested) return undefined
      return { type: ending === 'js' ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8', text }
    },
  }
}

function hashOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16)
}
