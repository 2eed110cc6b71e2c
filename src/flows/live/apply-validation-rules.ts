import { findRecords } from '../../records/records.ts'
import type { Problem } from '../../shared/errors.ts'
import { isJsonObject } from '../../shared/json.ts'
import { matchAll } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import type { DeployNote } from '../compile/notes/deploy-note.ts'
import { type Candidate, findRuleKind } from './validation-kinds.ts'

export interface Findings {
  /** Refuse the deploy. */
  readonly errors: readonly Problem[]
  /** Are only told. */
  readonly notes: readonly DeployNote[]
}

/** Holds a blueprint against all validation rules. A rule of a kind that this version does not know says nothing. */
export async function applyValidationRules(session: Session, candidate: Candidate): Promise<Findings> {
  const errors: Problem[] = []
  const notes: DeployNote[] = []
  for (const rule of await findRecords(session, ownStorages.validationRules, matchAll)) {
    const { parameters } = rule
    const found = findRuleKind(textIn(rule.rule_type))?.check(
      candidate,
      isJsonObject(parameters) ? parameters : {},
    )
    const own = textIn(rule.message)
    for (const problem of found ?? []) {
      const told = { ...problem, message: own === '' ? problem.message : `${own} (${problem.message})` }
      if (rule.severity === 'error') errors.push(told)
      else notes.push({ ...told, level: rule.severity === 'warning' ? 'warn' : 'info' })
    }
  }
  return { errors, notes }
}
