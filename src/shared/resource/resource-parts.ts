/**
 * The flows that a resource block stands for, as a blueprint file writes them: parts by name, wires as "@part.pin", expressions
 * with "=". The names of other parts in expressions come from `nameOf`.
 */
import type { JsonValue } from '../json.ts'
import { listParts } from './list-parts.ts'
import { hookCall } from './resource-endpoints.ts'
import {
  AS_USER,
  expandHelp,
  expandParts,
  onlyFields,
  type Parts,
  type ResourcePart,
  type ResourcePlan,
} from './resource-plan.ts'

export function resourceParts(plan: ResourcePlan): Parts {
  const { operations } = plan
  return {
    ...(operations.has('list') && listParts(plan)),
    ...(operations.has('read') && readParts(plan)),
    ...(operations.has('create') && createParts(plan)),
    ...(operations.has('change') && changeParts(plan)),
    ...(operations.has('remove') && removeParts(plan)),
  }
}

/** Text of a header that names the state a client knows, without quotes. Nothing for any state. */
const KNOWN_STATE =
  'headers["if-match"] == "*" ? null : headers["if-match"]?.replaceAll("W/", "").replaceAll(\'"\', "")'
const OUTDATED = 'The document was changed meanwhile. Read it again.'
function readParts(plan: ResourcePlan): Parts {
  const { uri, storage, readScopes, nameOf } = plan
  const expand = expandParts(plan)
  const document = `${nameOf('read_document')}.document`
  return {
    read: {
      type: 'on_startup_register_uri_get',
      in: { uri: `${uri}/{guid}` },
      fields: {
        summary: `Read one of ${storage}`,
        description: `\`fields=a,b\` sends these fields and \`_meta\`.${expandHelp(plan)}`,
        schema: [{ name: 'fields', type: 'text', in: 'query' }, ...expand.schema],
      },
      scopes: readScopes,
      at: [0, 4],
    },
    read_document: {
      type: 'function_get_document',
      in: { flow: '@read.flow', storage, guid: '=params.guid', ...expand.pins },
      fields: AS_USER,
      at: [1, 4],
    },
    found: {
      type: 'httpconnection_set_json',
      in: {
        flow: '@read_document.flow',
        value: `=params.fields == null ? ${document} : pick(${document}, ${onlyFields(plan)})`,
        headers: `=${stateOf(plan, document)}`,
      },
      at: [4, 4],
    },
  }
}

/** The header that names the state of the document. What it refers to has states of its own: with them, the reply is compared as a whole. */
function stateOf({ expand }: ResourcePlan, document: string): string {
  const state = `{ etag: \`"\${${document}._meta.update_hash}"\` }`
  return expand.length === 0 ? state : `params.expand == null ? ${state} : {}`
}

function createParts(plan: ResourcePlan): Parts {
  const { uri, storage, writeScopes, hooks } = plan
  const before = hooks.has('before_create')
  return {
    create: {
      type: 'on_startup_register_uri_post',
      in: { uri },
      fields: { summary: `Create one of ${storage}`, idempotent: true, schema_storage: storage },
      scopes: writeScopes,
      at: [0, 6],
    },
    ...(before && {
      before_create: hookCall(plan, 'before_create', '@create.flow', { document: '=body' }, [1, 6]),
    }),
    create_document: {
      type: 'function_create_document_from_mutations',
      in: { flow: before ? '@before_create.flow' : '@create.flow', storage, set: '=body ?? {}' },
      fields: AS_USER,
      at: [2, 6],
    },
    ...answer(plan, 'create', {
      after: { document: '@create_document.document' },
      reply: { code: 201, value: '@create_document.document' },
      row: 6,
    }),
  }
}

function changeParts(plan: ResourcePlan): Parts {
  const { uri, storage, writeScopes, hooks, nameOf } = plan
  const before = hooks.has('before_change')
  const looks = before || hooks.has('after_write')
  const taken = `${nameOf('change_document')}.taken`
  return {
    change: {
      type: 'on_startup_register_uri_put',
      in: { uri: `${uri}/{guid}` },
      fields: {
        summary: `Change one of ${storage}`,
        description:
          'Send the fields that change. With `if-match`, only the state of that `etag` is changed.',
        schema_storage: storage,
      },
      scopes: writeScopes,
      at: [0, 8],
    },
    ...(looks && { change_previous: previousOf(plan, '@change.flow', [1, 8]) }),
    ...(before && {
      before_change: hookCall(
        plan,
        'before_change',
        '@change_previous.flow',
        {
          document: `={ ...${nameOf('change_previous')}.document, ...body }`,
          previous: '@change_previous.document',
        },
        [1, 9],
      ),
    }),
    change_document: {
      type: 'function_update_document_mutations',
      in: {
        flow: before ? '@before_change.flow' : looks ? '@change_previous.flow' : '@change.flow',
        storage,
        guid: '=params.guid',
        set: '=body ?? {}',
        update_hash: `=${KNOWN_STATE}`,
      },
      fields: AS_USER,
      at: [2, 8],
    },
    ...answer(plan, 'change', {
      after: { document: '@change_document.document', previous: '@change_previous.document' },
      reply: { value: '@change_document.document' },
      row: 8,
    }),
    change_refused: {
      type: 'fail',
      in: {
        flow: '@change_document.conflict',
        status: `=${taken} == null ? 412 : 409`,
        fields: `=${taken}`,
        message: `=${taken} == null ? ${JSON.stringify(OUTDATED)} : \`Another document has the same \${join(${taken}, ", ")}. Use another value.\``,
      },
      at: [4, 9],
    },
  }
}

function removeParts(plan: ResourcePlan): Parts {
  const { uri, storage, writeScopes, hooks, permanent } = plan
  const before = hooks.has('before_remove')
  const looks = before || hooks.has('after_write')
  return {
    remove: {
      type: 'on_startup_register_uri_delete',
      in: { uri: `${uri}/{guid}` },
      fields: {
        summary: `Remove one of ${storage}`,
        description: `${permanent ? 'It is deleted permanently.' : 'It can be restored.'} With \`if-match\`, only the state of that \`etag\` is removed.`,
      },
      scopes: writeScopes,
      at: [0, 11],
    },
    ...(looks && { remove_previous: previousOf(plan, '@remove.flow', [1, 11]) }),
    ...(before && {
      before_remove: hookCall(
        plan,
        'before_remove',
        '@remove_previous.flow',
        { previous: '@remove_previous.document' },
        [1, 12],
      ),
    }),
    remove_document: {
      type: permanent ? 'function_delete_document' : 'function_remove_document',
      in: {
        flow: before ? '@before_remove.flow' : looks ? '@remove_previous.flow' : '@remove.flow',
        storage,
        guid: '=params.guid',
        if: `=headers["if-match"] == null || doc._meta.update_hash == (${KNOWN_STATE} ?? doc._meta.update_hash)`,
      },
      fields: AS_USER,
      at: [2, 11],
    },
    ...answer(plan, 'remove', {
      after: { previous: '@remove_previous.document' },
      reply: { value: '={ guid: params.guid, removed: true }' },
      row: 11,
    }),
    remove_refused: {
      type: 'fail',
      in: { flow: '@remove_document.refused', status: 412, message: OUTDATED },
      at: [4, 12],
    },
  }
}

function previousOf({ storage }: ResourcePlan, flow: string, at: readonly [number, number]): ResourcePart {
  return {
    type: 'function_get_document',
    in: { flow, storage, guid: '=params.guid' },
    fields: AS_USER,
    at,
  }
}

interface Answer {
  /** Parameters of the hook after the write. */
  readonly after: Readonly<Record<string, string>>
  readonly reply: Readonly<Record<string, JsonValue>>
  readonly row: number
}

/** The hook after the write, in its transaction, and the reply. */
function answer(
  plan: ResourcePlan,
  operation: 'create' | 'change' | 'remove',
  { after, reply, row }: Answer,
): Parts {
  const written = `@${operation}_document.flow`
  const hooked = plan.hooks.has('after_write')
  return {
    ...(hooked && { [`after_${operation}`]: hookCall(plan, 'after_write', written, after, [3, row]) }),
    [`${operation}_reply`]: {
      type: 'httpconnection_set_json',
      in: { flow: hooked ? `@after_${operation}.flow` : written, ...reply },
      at: [4, row],
    },
  }
}
