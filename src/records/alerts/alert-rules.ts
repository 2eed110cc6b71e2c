/** Rules that tell people when a figure of the cluster is bad. Each is a record; whether it fires is kept with it. */
import type { AlertFigure } from '../../shared/alerts/alert-figures.ts'
import { MAX_ALERTS } from '../../shared/alerts/alert-figures.ts'
import { invalidField } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { mailAddress } from '../../shared/mail/mail.ts'
import type { Database } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type NamedRecords, openNamedRecords } from '../named-records.ts'
import type { Actor } from '../records.ts'
import { checkSecretRoute, type Lacks } from '../secret-route.ts'

export interface AlertInput {
  readonly name: string
  readonly figure: AlertFigure
  readonly threshold: number
  readonly minutes?: number
  readonly mail?: readonly string[]
  readonly webhook?: string
  readonly secret?: string
  readonly active?: boolean
  readonly description?: string
}

export interface AlertRules {
  /** Throws as `checkSecretRoute`. */
  create(input: AlertInput, by: Actor, lacks: Lacks): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  update(
    guid: string,
    changes: Partial<Omit<AlertInput, 'name'>>,
    by: Actor,
    lacks: Lacks,
  ): Promise<JsonObject>
  remove(guid: string, by: Actor): Promise<void>
  close(): void
}

const fresh = { minutes: 5, webhook: '', secret: '', active: true, description: '' }
/** A rule that was changed is judged from the beginning. */
const unknown = { firing: false, since: 0, value: null }

export async function openAlertRules(database: Database): Promise<AlertRules> {
  const records: NamedRecords = await openNamedRecords(database, {
    storage: systemStorages.alerts,
    noun: 'alert',
    most: MAX_ALERTS,
  })
  return {
    create(input, by, lacks) {
      checkAlert(input)
      checkSecretRoute(
        undefined,
        routeOf({ secret: input.secret ?? '', webhook: input.webhook ?? '' }),
        lacks,
      )
      return records.create({ ...fresh, ...unknown, ...input, mail: [...(input.mail ?? [])] }, by)
    },
    get: (guid) => records.get(guid),
    update(guid, changes, by, lacks) {
      checkAlert(changes)
      const { mail, ...rest } = changes
      const reported = rest.figure === undefined && rest.threshold === undefined && rest.active === undefined
      return records.update(
        guid,
        (record) => {
          checkSecretRoute(routeOf(record), routeOf({ ...record, ...rest }), lacks)
          return { ...rest, ...(mail && { mail: [...mail] }), ...(reported ? {} : unknown) }
        },
        by,
      )
    },
    remove: (guid, by) => records.remove(guid, by),
    close: () => records.close(),
  }
}

/** What signs the webhook, and which server gets the signature. */
function routeOf({ secret, webhook }: JsonObject) {
  return { secret: textIn(secret), to: textIn(webhook) }
}

/** INVALID_BODY for what is no address. */
export function checkAlert({ mail = [], webhook = '' }: Partial<AlertInput>): void {
  const wrong = mail.find((one) => mailAddress(one) === undefined)
  if (wrong !== undefined)
    throw invalidField(
      'mail',
      `mail must hold addresses such as ann@example.org; got ${JSON.stringify(wrong)}.`,
    )
  if (webhook === '') return
  const url = URL.parse(webhook)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '')
    throw invalidField(
      'webhook',
      'webhook must be an http or https address without a user and password, or empty for none.',
    )
}
