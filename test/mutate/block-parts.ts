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
  httpconnection_set_json: ['http/reply-headers.ts'],
  function_search: ['cached-search.ts#searchWithCache', 'cached-search.ts#searchNow'],
  function_search_single_result: ['cached-search.ts#searchWithCache'],
  function_update_document_mutations: ['storage/document-queries.ts#documentGuid'],
  function_remove_document: ['storage/document-queries.ts#documentGuid'],
  function_delete_document: ['storage/document-queries.ts#documentGuid'],
  mutations_set_bp_field_multiple: ['storage/document-writes.ts#setField'],
  mutations_set_custom_field: [
    'storage/document-writes.ts#setField',
    'storage/document-writes.ts#mutationField',
  ],
  mutations_increment_by_field: ['storage/document-writes.ts#mutationField'],
  query_and: ['storage/document-queries.ts#allOf'],
  query_bool_filter: ['storage/document-queries.ts#allOf'],
  query_bool_must: ['storage/document-queries.ts#anyOf', 'storage/document-queries.ts#scalarsOf'],
  query_bool_term_fields: [
    'storage/document-queries.ts#matchesAny',
    'storage/document-queries.ts#matchesEmpty',
  ],
  query_bool_simple_query_string_field: ['names.ts#queryField'],
  query_bool_range_field: ['range-query.ts#rangeQuery', 'range-query.ts#readBound', 'names.ts#queryField'],
  query_sort_field: ['names.ts#queryField'],
  object_new_fields: ['pins/named-values.ts#withNamedValues', 'pins/named-values.ts#setAt'],
  object_update_fields: ['pins/named-values.ts#withNamedValues', 'pins/named-values.ts#namedValue'],
  function_custom_execute_from_queue: ['pins/scalar-values.ts#readDuration'],
  state_button: ['pages/page-pins.ts#pageHref'],
  state_form: ['pages/page-pins.ts#formId'],
  state_page: ['pages/page-pins.ts#pageUri'],
  state_advanced_datatable: ['pages/table-columns.ts#tableColumns'],
  storage: ['names.ts#builderStorage'],
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
