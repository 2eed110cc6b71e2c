/** A session whose searches sort texts as their fields say: by default as people do, where no field describes them by code point. */
import { sortCollation } from '../../shared/field-rule.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Search } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { isOwnStorage } from '../../storage/system-storages.ts'
import { WrappedSession } from '../../storage/wrapped-session.ts'
import type { FieldRules } from './field-rules.ts'

export abstract class SortingSession extends WrappedSession {
  declare protected readonly rules: FieldRules

  constructor(session: Session, rules: FieldRules) {
    super(session)
    this.rules = rules
  }

  override find(storage: string, search: Search) {
    return andThen(this.#collated(storage, search), (collated) => super.find(storage, collated))
  }

  override findWithTotal(storage: string, search: Search) {
    return andThen(this.#collated(storage, search), (collated) => super.findWithTotal(storage, collated))
  }

  #collated(storage: string, search: Search): MaybePromise<Search> {
    if (isOwnStorage(storage) || search.sort.every(({ field }) => field.startsWith('_meta.'))) return search
    return andThen(this.rules.of(storage), (rules) => {
      const sort = search.sort.map((key) => {
        const collation = key.collation ?? sortCollation(rules, key.field)
        return collation === undefined ? key : { ...key, collation }
      })
      return { ...search, sort }
    })
  }
}
