/**
 * Fields that rules lead through. A field that ends to be a reference, or becomes one, gives such a rule another meaning: `!=` could
 * hold for every document then. So it is refused while a rule needs it as it is.
 */
import { QuoinError } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { search } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { type Reference, type References, referencesIn } from '../../storage/reference/references.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { permissionNames, permissionsIn, referencesFor } from '../fields/field-rules.ts'
import { scopeOf } from './reference-query.ts'
import { ruleProblem, usesReferences } from './rule-expression.ts'

const MOST_STORAGES = 10_000

interface ChangedField {
  readonly before: FieldRule | undefined
  readonly after: FieldRule | undefined
}

/** Throws CONFLICT that names a rule. */
export async function checkRulesLead(session: Session, { before, after }: ChangedField): Promise<void> {
  const [was, will] = [before, after].map((rule) =>
    rule ? referencesIn([rule]).of(rule.storage ?? '')[0] : undefined,
  )
  if (isSame(was, will)) return
  const query = { kind: 'exists', field: 'rules' } as const
  const found = await session.find(systemStorages.storages, search({ query, limit: MOST_STORAGES }))
  const validated = objectsIn(found.documents.value).map(({ name, rules }) => ({
    name: textIn(name),
    rules: permissionsIn(rules),
  }))
  if (!validated.some(({ rules }) => rules)) return
  const now = await referencesFor(session)
  const then = changed(now, was, will)
  for (const { name, rules = {} } of validated)
    for (const rule of permissionNames) {
      const text = rules[rule]
      if (text === undefined) continue
      const [scope, next] = [scopeOf(name, now), scopeOf(name, then)]
      if (was && usesReferences(text, scope, was))
        throw needed(name, rule, `leads through the field ${was.field} of ${was.from}`)
      const kind = rule === 'see' ? 'see' : 'write'
      const problem = ruleProblem(text, kind, next)
      if (problem && !ruleProblem(text, kind, scope))
        throw needed(name, rule, `cannot be used then: ${problem.replace(/\.$/, '')}`)
    }
}

function isSame(was: Reference | undefined, will: Reference | undefined): boolean {
  return was?.from === will?.from && was?.field === will?.field && was?.storage === will?.storage
}

function changed(now: References, was: Reference | undefined, will: Reference | undefined): References {
  const of = (storage: string) => [
    ...now.of(storage).filter(({ field }) => storage !== was?.from || field !== was.field),
    ...(will?.from === storage ? [will] : []),
  ]
  return { ...now, of }
}

function needed(storage: string, rule: string, why: string): QuoinError {
  return new QuoinError(
    'CONFLICT',
    `The rule ${rule} of the storage ${storage} ${why}. Change the rule first.`,
    { fields: ['reference'] },
  )
}
