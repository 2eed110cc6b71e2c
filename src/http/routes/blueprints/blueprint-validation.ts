import { Type } from 'typebox'
import {
  createValidationRule,
  getValidationRule,
  removeValidationRule,
  updateValidationRule,
  validationRuleStorage,
} from '../../../flows/live/validation-rules.ts'
import type { RecordContext } from '../../../records/records.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { searchSchema } from '../../../shared/api/search.ts'
import { removedSchema } from '../../../shared/api/users.ts'
import {
  createValidationRuleSchema,
  updateHashParams,
  updateValidationRuleSchema,
  validationRuleSchema,
} from '../../../shared/api/validation-rules.ts'
import { findPage } from '../../../storage/find-page.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchRequest } from '../search-request.ts'

const tags = ['Validation rules']

const searchFields: readonly SearchField[] = [
  { name: 'rule_type', type: 'string', text: true },
  { name: 'message', type: 'string', text: true },
  { name: 'severity', type: 'string' },
  ...metaFields,
]

/** Rules that blueprints are held against when they are deployed. */
export function blueprintValidationRoutes(records: RecordContext): RouteFamily {
  const { database } = records
  return (app) => {
    app.post(
      '/_system/blueprintvalidation/search',
      {
        config: { permission: 'blueprintvalidation_view', bodyOptional: true },
        schema: {
          operationId: 'searchValidationRules',
          summary: 'List validation rules',
          tags,
          body: searchSchema,
          response: { 200: Type.Array(validationRuleSchema) },
        },
      },
      async (request, reply) => {
        const wanted = searchRequest(request.body, searchFields)
        return searchReply(
          reply,
          request.body,
          await findPage(records.database.session(), validationRuleStorage, wanted),
        )
      },
    )

    app.post(
      '/_system/blueprintvalidation',
      {
        config: { permission: 'blueprintvalidation_create' },
        schema: {
          operationId: 'createValidationRule',
          summary: 'Create a validation rule',
          description: 'Counts from the next deploy on. What is deployed already goes on answering.',
          tags,
          body: createValidationRuleSchema,
          response: { 200: validationRuleSchema },
        },
      },
      (request) => createValidationRule(database, request.body, actorOf(request)),
    )

    app.get(
      '/_system/blueprintvalidation/:guid',
      {
        config: { permission: 'blueprintvalidation_view' },
        schema: {
          operationId: 'getValidationRule',
          summary: 'One validation rule',
          tags,
          params: guidParams,
          response: { 200: validationRuleSchema },
        },
      },
      (request) => getValidationRule(database, request.params.guid),
    )

    app.put(
      '/_system/blueprintvalidation/:guid/:updatehash',
      {
        config: { permission: 'blueprintvalidation_update', errors: ['CONFLICT'] },
        schema: {
          operationId: 'updateValidationRule',
          summary: 'Update blueprint validation rules',
          description: 'Changes what is given, if nobody changed the rule since its `update_hash` was read.',
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

    app.delete(
      '/_system/blueprintvalidation/:guid',
      {
        config: { permission: 'blueprintvalidation_remove' },
        schema: {
          operationId: 'removeValidationRule',
          summary: 'Remove a validation rule',
          tags,
          params: guidParams,
          response: { 200: removedSchema },
        },
      },
      async (request) => {
        const { guid } = request.params
        await removeValidationRule(database, guid, actorOf(request))
        return { guid, removed: true } as const
      },
    )
  }
}
