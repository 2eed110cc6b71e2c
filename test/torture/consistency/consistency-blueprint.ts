/** What concurrent clients work on, in the format of blueprint files. */
import type { JsonObject } from '../../../src/shared/json.ts'

export const uris = {
  documents: 'consistency-documents',
  pairs: 'consistency-pairs',
  failing: 'consistency-failing',
  keys: 'consistency-keys',
  orders: 'consistency-orders',
  handled: 'consistency-handled',
} as const

const FIELDS = ['key', 'token', 'group', 'words', 'count', 'order']
const open = ['*public']

const create = (flow: string, storage: string, mutations: string): JsonObject => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage, mutations },
})
const reply = (flow: string, value: string, code = 200): JsonObject => ({
  type: 'httpconnection_set_json',
  in: { flow, value, code },
})
const parameter = (trigger: string, field: string): JsonObject => ({
  type: 'httpconnection_get_params',
  in: { connection: `@${trigger}.connection`, field },
})
const set = (object: string): JsonObject => ({
  type: 'mutations_set_bp_field_multiple',
  in: { object },
  fields: { fields: FIELDS },
})
const storage = (name: string): JsonObject => ({ type: 'storage', fields: { storage: name } })
const onPost = (uri: string, fields: JsonObject = {}): JsonObject => ({
  type: 'on_startup_register_uri_post',
  in: { uri },
  fields,
  scopes: open,
})
const onGet = (uri: string): JsonObject => ({
  type: 'on_startup_register_uri_get',
  in: { uri },
  scopes: open,
})

/** Create, read, change (with `update_hash` if it is given), count up, delete and list documents of one storage. */
const documents: JsonObject = {
  documents: storage('consistency_documents'),

  create: onPost(uris.documents),
  create_fields: set('@create.body'),
  created: create('@create.flow', '@documents.storage', '@create_fields.mutations'),
  create_reply: reply('@created.flow', '@created.document', 201),

  read: onGet(`${uris.documents}/{guid}`),
  read_guid: parameter('read', 'guid'),
  found: {
    type: 'function_get_document',
    in: { flow: '@read.flow', storage: '@documents.storage', guid: '@read_guid.value' },
  },
  read_reply: reply('@found.flow', '@found.document'),
  read_absent: reply('@found.not_found', 'absent', 404),

  change: { type: 'on_startup_register_uri_put', in: { uri: `${uris.documents}/{guid}` }, scopes: open },
  change_guid: parameter('change', 'guid'),
  change_fields: set('@change.body'),
  change_hash: {
    type: 'object_update_fields',
    in: { object: '@change.body' },
    fields: { out_fields: ['update_hash'] },
  },
  changed: {
    type: 'function_update_document_mutations',
    in: {
      flow: '@change.flow',
      storage: '@documents.storage',
      guid: '@change_guid.value',
      mutations: '@change_fields.mutations',
      update_hash: '@change_hash.update_hash',
    },
  },
  change_reply: reply('@changed.flow', '@changed.document'),
  change_conflict: reply('@changed.conflict', '@changed.document', 409),
  change_absent: reply('@changed.not_found', 'absent', 404),

  add: onPost(`${uris.documents}/{guid}/add`),
  add_guid: parameter('add', 'guid'),
  add_one: { type: 'mutations_increment_by_field', in: { field: 'count' } },
  added: {
    type: 'function_update_document_mutations',
    in: {
      flow: '@add.flow',
      storage: '@documents.storage',
      guid: '@add_guid.value',
      mutations: '@add_one.mutations',
    },
  },
  add_reply: reply('@added.flow', '@added.document'),
  add_absent: reply('@added.not_found', 'absent', 404),

  remove: { type: 'on_startup_register_uri_delete', in: { uri: `${uris.documents}/{guid}` }, scopes: open },
  remove_guid: parameter('remove', 'guid'),
  removed: {
    type: 'function_delete_document',
    in: { flow: '@remove.flow', storage: '@documents.storage', guid: '@remove_guid.value' },
  },
  remove_reply: reply('@removed.flow', 'deleted'),
  remove_absent: reply('@removed.not_found', 'absent', 404),

  list: onGet(uris.documents),
  list_group: parameter('list', 'group'),
  list_words: parameter('list', 'words'),
  list_in_group: {
    type: 'query_bool_term_fields',
    in: { field: 'group', value: '@list_group.value', ignore_empty: true },
  },
  list_by_words: {
    type: 'query_bool_simple_query_string_field',
    in: { field: ['words'], value: '@list_words.value' },
  },
  list_query: { type: 'query_and', in: { queries: ['@list_in_group.query', '@list_by_words.query'] } },
  listed: {
    type: 'function_search',
    in: { flow: '@list.flow', storage: '@documents.storage', query: '@list_query.query', limit: 5000 },
  },
  list_object: {
    type: 'object_new_fields',
    in: { total: '@listed.total', documents: '@listed.documents' },
    fields: { fields: ['total', 'documents'] },
  },
  list_reply: reply('@listed.flow', '@list_object.object'),
}

/** The keys of a group, page by page, where the documents are large. */
const keys: JsonObject = {
  keys: onGet(uris.keys),
  keys_group: parameter('keys', 'group'),
  keys_offset: parameter('keys', 'offset'),
  keys_query: { type: 'query_bool_term_fields', in: { field: 'group', value: '@keys_group.value' } },
  keys_found: {
    type: 'function_search',
    in: {
      flow: '@keys.flow',
      storage: '@documents.storage',
      query: '@keys_query.query',
      limit: 20,
      offset: '@keys_offset.value',
    },
  },
  key_of: {
    type: 'object_update_fields',
    in: { object: '@keys_all.item' },
    fields: { out_fields: ['key'] },
  },
  keys_all: { type: 'array_map', in: { array: '@keys_found.documents', result: '@key_of.key' } },
  keys_reply: reply('@keys_found.flow', '@keys_all.array'),
}

/** Two documents in one run; and one document in a run that fails behind it. */
const together: JsonObject = {
  pair: onPost(uris.pairs),
  pair_body: {
    type: 'object_update_fields',
    in: { object: '@pair.body' },
    fields: { out_fields: ['first', 'second'] },
  },
  pair_first: set('@pair_body.first'),
  pair_second: set('@pair_body.second'),
  paired_first: create('@pair.flow', '@documents.storage', '@pair_first.mutations'),
  paired_second: create('@paired_first.flow', '@documents.storage', '@pair_second.mutations'),
  pair_object: {
    type: 'object_new_fields',
    in: { first: '@paired_first.document', second: '@paired_second.document' },
    fields: { fields: ['first', 'second'] },
  },
  pair_reply: reply('@paired_second.flow', '@pair_object.object', 201),

  fail: onPost(uris.failing),
  fail_fields: set('@fail.body'),
  failing: create('@fail.flow', '@documents.storage', '@fail_fields.mutations'),
  fail_limit: { type: 'value_default', in: { default: 'many' } },
  failed: {
    type: 'function_search',
    in: { flow: '@failing.flow', storage: '@documents.storage', limit: '@fail_limit.value' },
  },
}

/** Orders are idempotent, and each is handed to the queue in its own transaction. */
const orders: JsonObject = {
  orders: storage('consistency_orders'),
  handled: storage('consistency_handled'),
  order: onPost(uris.orders, { idempotent: true }),
  order_fields: set('@order.body'),
  ordered: create('@order.flow', '@orders.storage', '@order_fields.mutations'),
  order_later: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@ordered.flow', function: 'handle', order: '@ordered.document' },
    fields: { parameters: ['order'] },
  },
  order_reply: reply('@order_later.flow', '@ordered.document', 201),

  handle: {
    type: 'trigger_custom_function',
    fields: { name: 'handle' },
    out: [{ id: 'order', type: 'object' }],
  },
  handle_key: {
    type: 'object_update_fields',
    in: { object: '@handle.order' },
    fields: { out_fields: ['key'] },
  },
  handle_fields: {
    type: 'mutations_set_bp_field_multiple',
    in: { key: '@handle_key.key' },
    fields: { fields: ['key'] },
  },
  handle_store: create('@handle.flow', '@handled.storage', '@handle_fields.mutations'),

  order_list: onGet(uris.orders),
  order_search: {
    type: 'function_search',
    in: { flow: '@order_list.flow', storage: '@orders.storage', limit: 10000 },
  },
  order_list_reply: reply('@order_search.flow', '@order_search.documents'),
  handled_list: onGet(uris.handled),
  handled_search: {
    type: 'function_search',
    in: { flow: '@handled_list.flow', storage: '@handled.storage', limit: 10000 },
  },
  handled_list_reply: reply('@handled_search.flow', '@handled_search.documents'),
}

export const consistencyBlueprint = {
  name: 'Consistency',
  blocks: { ...documents, ...keys, ...together, ...orders },
}
