/** On whose behalf documents are read and written, as rules see it. */
import type { JsonObject } from '../../shared/json.ts'
import { guidOf, textIn, textsIn } from '../../storage/document-fields.ts'

/** Who holds it sets the rules, and is not bound by them: else a rule could lock out the people who mend it. */
export const RULES_SCOPE = 'storages_rules'

export interface Subject {
  /** Whether rules count. */
  readonly bound: boolean
  /** `user` in rules; undefined for an anonymous caller. */
  readonly user: JsonObject | undefined
}

const anonymous: Subject = { bound: true, user: undefined }

/** Of a user's record without secrets and the scopes that the user holds, through groups too. */
export function subjectOf(record: JsonObject | undefined, scopes: ReadonlySet<string> | undefined): Subject {
  if (record === undefined) return anonymous
  const held = scopes ?? new Set<string>()
  const user = {
    guid: guidOf(record),
    username: textIn(record.username),
    groups: [...textsIn(record.groups)],
    scopes: [...held],
  }
  return { bound: !held.has('*') && !held.has(RULES_SCOPE), user }
}
