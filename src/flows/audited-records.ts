import { assetStorage } from '../records/assets/assets.ts'
import type { AuditedStorages } from '../records/audit-log.ts'
import { fieldStorage } from '../records/fields/field-rules.ts'
import { recordStorages } from '../records/records.ts'
import { templateStorage } from '../records/templates.ts'
import { validationRuleStorage } from './live/validation-rules.ts'
import { tracingStorage } from './trace/traced-blueprints.ts'

/** The audit record says itself who it was. */
const derived = ['modified_by', 'created_by']

/** The records of this room whose changes are audited. */
export const auditedRecords: AuditedStorages = {
  [recordStorages.blueprints]: { category: 'blueprints', derived },
  [recordStorages.blocks]: { category: 'blueprintactions', derived },
  [recordStorages.deployments]: { category: 'deployments', derived: ['by'] },
  [recordStorages.storages]: { category: 'storages', derived },
  // The documents of a page upload are written by the run that stored it.
  [assetStorage]: { category: 'assets', derived: ['created_by', 'documents'] },
  [fieldStorage]: { category: 'blueprintfields', derived: [...derived, 'key'] },
  [templateStorage]: { category: 'blueprinttemplates', derived: [...derived, 'name_key'] },
  [tracingStorage]: { category: 'tracing', derived },
  [validationRuleStorage]: { category: 'blueprintvalidation', derived },
}
