/** What a block consists of beside its own file: code that several blocks share is changed for each of them. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Part } from './generated-mutants.ts'

const root = join(import.meta.dirname, '../..')

const shared: Readonly<Record<string, readonly string[]>> = {
  on_startup_register_uri_get: ['http/http-trigger.ts#defineReadTrigger', 'endpoint-uri.ts#endpointUri'],
  on_startup_register_uri_post: ['http/http-trigger.ts#defineWriteTrigger'],
  on_startup_register_uri_put: ['http/http-trigger.ts#defineWriteTrigger'],
  on_startup_register_uri_delete: ['http/http-trigger.ts#defineWriteTrigger'],
  httpconnection_set_json: ['http/check-headers.ts#checkHeaders', 'http/reply-headers.ts'],
  function_search: ['cached-search.ts#searchWithCache', 'cached-search.ts#searchNow'],
  function_search_single_result: ['cached-search.ts#searchWithCache'],
  function_update_document_mutations: ['storage/document-guid.ts#documentGuid'],
  function_remove_document: ['storage/document-guid.ts#documentGuid'],
  function_delete_document: ['storage/document-guid.ts#documentGuid'],
  mutations_set_bp_field_multiple: ['storage/field-mutation.ts#setField'],
  mutations_set_custom_field: [
    'storage/field-mutation.ts#setField',
    'storage/field-mutation.ts#mutationField',
  ],
  mutations_increment_by_field: ['storage/field-mutation.ts#mutationField'],
  query_and: ['storage/combine-queries.ts#allOf'],
  query_bool_filter: ['storage/combine-queries.ts#allOf'],
  query_bool_must: ['storage/combine-queries.ts#anyOf', 'storage/exact-match.ts#scalarsOf'],
  query_bool_term_fields: ['storage/exact-match.ts'],
  query_bool_simple_query_string_field: ['names.ts'],
  query_bool_range_field: ['range-query.ts#rangeQuery', 'range-query.ts#readBound', 'names.ts'],
  query_sort_field: ['names.ts'],
  object_new_fields: ['pins/named-values.ts#withNamedValues', 'pins/named-values.ts#setAt'],
  object_update_fields: ['pins/named-values.ts#withNamedValues', 'pins/named-values.ts#namedValue'],
  function_custom_execute_from_queue: ['pins/read-duration.ts'],
  schedule_repeating_event: ['background/schedule-timing.ts'],
  state_button: ['pages/page-href.ts'],
  state_form: ['pages/form-id.ts'],
  state_page: ['pages/page-uri.ts'],
  state_advanced_datatable: ['pages/table-columns.ts#tableColumns'],
  storage: ['names.ts'],
}

/** The block's own file first. */
export function partsOf(block: string): readonly Part[] {
  const [file] = globSync(`src/blocks/*/${block.replace(' ', '_')}.ts`, { cwd: root })
  if (file === undefined) throw new Error(`There is no file of the block ${block}.`)
  const more = (shared[block] ?? []).map((part): Part => {
    const [name = '', of] = part.split('#')
    return { file: `src/blocks/${name}`, ...(of !== undefined && { name: of }) }
  })
  return [{ file }, ...more]
}
