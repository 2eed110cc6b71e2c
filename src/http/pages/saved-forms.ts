/**
 * What was typed into a form is kept while its sender signs in again, because their session has ended meanwhile.
 *
 * A page shown to a signed-in user puts a ticket into each of its forms: the user, and which of its inputs hold
 * what must not be kept, signed for this one form (its one-time name, its id, its address). When the form then comes from
 * an anonymous caller, its values are stored under the one-time name, for that user: without a valid ticket we do not store
 * anything. The browser is sent to sign in and from there back to the form's address with `_kept=<one-time name>`. A user who
 * is signed in then gets the filled form if it is theirs, and the empty one otherwise. Passwords and files are never kept.
 */

import { deleteExpired } from '../../access/identify.ts'
import type { SigningSecret } from '../../records/secrets/signing-secret.ts'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Database } from '../../storage/database.ts'
import { numberIn, textIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type Posted, postedFields, sentNames } from './posted.ts'

const PURPOSE = 'kept form'
/** Long enough to find a forgotten password, short enough that no text is left for long. */
const SECONDS = 3_600
/** Of one form, as JSON in UTF-16 units. A longer one is not kept: its sender finds it empty, as before. */
const MAX_TEXT = 256 * 1024
/** Forms of one user at a time. */
const MAX_FORMS = 20

/** One form as it was shown. */
export interface ShownForm {
  readonly form: string
  /** Path and query that it is sent to. */
  readonly href: string
  /** Its one-time name. */
  readonly once: string
}

export interface SavedForm {
  readonly form: string
  readonly posted: Posted
}

export interface SavedForms {
  /** For a hidden input of a form that is shown to `user`; `never`: names of inputs that are not kept. */
  ticket(shown: ShownForm, user: string, never: readonly string[]): string
  /** Keeps an anonymous form sent to `href`; gives the name to read it by, or undefined if nothing is kept. */
  keep(posted: Posted, href: string): Promise<string | undefined>
  /** What `user` sent to `href` before signing in. */
  find(name: string, href: string, user: string): Promise<SavedForm | undefined>
}

export async function openSavedForms(
  database: Database,
  secret: SigningSecret,
  clock: Clock,
): Promise<SavedForms> {
  const indexes = [{ fields: ['name'], unique: true }, { fields: ['user'] }, { fields: ['until'] }]
  await database.ensure(systemStorages.savedForms, { indexes })
  const now = () => Math.floor(clock() / 1000)
  const signed = ({ form, href, once }: ShownForm, body: string) => JSON.stringify([form, href, once, body])

  /** User and names that are not kept, of a ticket that is ours and for this form. */
  function readTicket(shown: ShownForm, ticket: string): readonly [string, ...string[]] | undefined {
    const [body = '', signature = ''] = ticket.split('.')
    if (!secret.verify(PURPOSE, signed(shown, body), signature)) return undefined
    const parts: JsonValue = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
    const [user, ...never] = Array.isArray(parts) ? parts.filter((one) => typeof one === 'string') : []
    return user === undefined ? undefined : [user, ...never]
  }

  return {
    ticket(shown, user, never) {
      const body = Buffer.from(JSON.stringify([user, ...never])).toString('base64url')
      return `${body}.${secret.sign(PURPOSE, signed(shown, body))}`
    },

    async keep(posted, href) {
      const form = posted.first(sentNames.form) ?? ''
      const once = posted.first(sentNames.once) ?? ''
      const ticket = readTicket({ form, href, once }, posted.first(sentNames.ticket) ?? '')
      if (!ticket) return undefined
      const [user, ...never] = ticket
      const names = posted.names().filter((name) => !name.startsWith('_') && !never.includes(name))
      const values = JSON.stringify(Object.fromEntries(names.map((name) => [name, [...posted.all(name)]])))
      if (values.length > MAX_TEXT) return undefined
      await deleteExpired(database, systemStorages.savedForms, 'until', now())
      const many = await database
        .session()
        .count(systemStorages.savedForms, { kind: 'term', field: 'user', value: user })
      if (many >= MAX_FORMS) return undefined
      const record = { name: once, user, form, href, values, until: now() + SECONDS }
      try {
        await transact(database, async (session) =>
          session.create(systemStorages.savedForms, setFields(record)),
        )
      } catch (error) {
        // Sent twice: what came first is there.
        if (!(error instanceof QuoinError) || error.code !== 'CONFLICT') throw error
      }
      return once
    },

    async find(name, href, user) {
      const record = await findOne(database.session(), systemStorages.savedForms, 'name', name)
      if (!record || record.user !== user || record.href !== href || numberIn(record.until) <= now())
        return undefined
      const values: JsonValue = JSON.parse(textIn(record.values))
      return { form: textIn(record.form), posted: postedFields(objectOf(values)) }
    },
  }
}

function objectOf(value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : {}
}
