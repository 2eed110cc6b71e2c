import {
  createValidationRule,
  getValidationRule,
  removeValidationRule,
  updateValidationRule,
} from '../../../flows/live/validation-rules.ts'
import type { RecordContext } from '../../../records/records.ts'
import {
  createValidationRuleSchema,
  updateHashParams,
  updateValidationRuleSchema,
  validationRuleSchema,
} from '../../../shared/api/blueprints/validation-rules.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Validation rules']

const searchable: readonly SearchField[] = [
  { name: 'rule_type', type: 'string', text: true },
  { name: 'message', type: 'string', text: true },
  { name: 'severity', type: 'string' },
]

/** Rules that blueprints are held against when they are deployed. */
export function blueprintValidationRoutes(records: RecordContext): RouteFamily {
  const { database } = records
  return (app) => {
    const rules = resource(app, {
      path: '/_system/blueprintvalidation',
      scopes: 'blueprintvalidation',
      tags,
      record: validationRuleSchema,
      searchable,
    })
    rules.list({ operationId: 'searchValidationRules', summary: 'List validation rules' }, (requested) =>
      findPage(database.session(), systemStorages.validationRules, requested),
    )

    rules.create(
      {
        operationId: 'createValidationRule',
        summary: 'Create a validation rule',
        description: 'Applies from the next deploy on. Deployed blueprints stay live.',
        body: createValidationRuleSchema,
      },
      (body, request) => createValidationRule(database, body, actorOf(request)),
    )

    rules.get({ operationId: 'getValidationRule', summary: 'One validation rule' }, (guid) =>
      getValidationRule(database, guid),
    )

    app.put(
      '/_system/blueprintvalidation/:guid/:updatehash',
      {
        config: { permission: 'blueprintvalidation_update', errors: ['CONFLICT'] },
        schema: {
          operationId: 'updateValidationRule',
          summary: 'Update blueprint validation rules',
          description: 'Changes the given fields, if the rule still has this `update_hash`.',
          tags,
          params: updateHashParams,
          body: updateValidationRuleSchema,
          response: { 200: validationRuleSchema },
        },
      },
      (request) => {
        const { guid, updatehash } = request.params
        return updateValidationRule(database, guid, updatehash, request.body, actorOf(request))
      },
    )

    rules.remove(
      { operationId: 'removeValidationRule', summary: 'Remove a validation rule' },
      (guid, request) => removeValidationRule(database, guid, actorOf(request)),
    )
  }
}
