/** The blueprint that serves a storage as pages: a list, a form for a new document, one document, and a form that changes it. */

import type { FieldRecord } from '../../../shared/api/blueprints/blueprint-fields.ts'
import type { BlueprintFile } from '../../../shared/application/blueprint-file.ts'
import { wordsOfField } from '../../../shared/fields/field-names.ts'
import { fieldTypeEntries, isFieldType } from '../../../shared/fields/field-type.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import { type Access, scopesOf } from './access/application-access.ts'

export interface PagesDraft {
  readonly storage: string
  /** Path of the list, without slashes at its ends. */
  readonly uri: string
  /** Who sees the list and its documents, and who writes. */
  readonly access: Access
  /** By the storage that a field refers to: the field that is the name of its documents. */
  readonly names: ReadonlyMap<string, string>
}

const MOST_COLUMNS = 8
type Blocks = BlueprintFile['blocks']
type Block = Blocks[string]

interface Parts {
  readonly storage: string
  readonly uri: string
  readonly title: string
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly fields: readonly FieldRecord[]
  readonly names: PagesDraft['names']
  /** Of forms: names of fields, and references as a choice of documents. */
  readonly inputs: readonly (string | { readonly field: string; readonly type: 'choice' })[]
}

/** What the rules of the storage hide or forbid, the pages do too. */
const asUser = { as: 'user' }

export function pagesFile(
  { storage, uri, access, names }: PagesDraft,
  fields: readonly FieldRecord[],
): BlueprintFile {
  const parts: Parts = {
    storage,
    uri,
    title: wordsOfField(storage),
    ...scopesOf(storage, access),
    fields,
    names,
    inputs: fields
      .filter(isInput)
      .map(({ name, reference }) => (reference ? { field: name, type: 'choice' } : name)),
  }
  const pages = [listPage(parts), newPage(parts), onePage(parts), editPage(parts)]
  return {
    // The start page of visitors has it as a heading.
    name: parts.title,
    description: blueprintsTexts.pagesDescription(storage, uri),
    blocks: Object.assign({}, ...pages),
    layout: layoutOf(pages),
  }
}

/** Whether people can write it, in a form. */
export function isInput({ type, computed }: FieldRecord): boolean {
  return isFieldType(type) && fieldTypeEntries[type].automatic !== true && !computed
}

/** Each page below the one before, five blocks beside each other. */
function layoutOf(pages: readonly Blocks[]): Record<string, [number, number]> {
  const lines = pages.flatMap((blocks, page) => {
    const names = Object.keys(blocks)
    return Array.from({ length: Math.ceil(names.length / 5) }, (_, line) => ({
      page,
      names: names.slice(line * 5, line * 5 + 5),
    }))
  })
  return Object.fromEntries(
    lines.flatMap(({ page, names }, line) =>
      names.map((name, i): [string, [number, number]] => [name, [i * 320, line * 420 + page * 60]]),
    ),
  )
}

function columns(fields: readonly FieldRecord[]) {
  const shown = fields.filter(({ type }) => type !== 'object' && type !== 'long_text').slice(0, MOST_COLUMNS)
  return shown.map(({ name, label, type }) => {
    const value = isFieldType(type) ? fieldTypeEntries[type].value : 'any'
    return { field: name, ...(label && { label }), sortable: value !== 'list' && value !== 'object' }
  })
}

function listPage({ storage, uri, title, read, fields }: Parts): Blocks {
  return {
    list: { type: 'state_page', in: { url: uri, title }, scopes: [...read] },
    list_heading: { type: 'state_h1', in: { text: title } },
    list_new: {
      type: 'state_button',
      in: {
        state: '@list_heading.state',
        label: blueprintsTexts.new,
        kind: 'link',
        url: `/${uri}/new`,
        tone: 'primary',
      },
    },
    list_table: {
      type: 'state_advanced_datatable',
      in: {
        ...{ state: '@list_new.state', storage, columns: columns(fields), caption: title },
        row_link: `/${uri}/{_meta.guid}/view`,
      },
    },
    list_shown: { type: 'state_render_page', in: { flow: '@list.flow', state: '@list_table.state' } },
  }
}

function path(parts: Parts, label: string, href: string): Block {
  const links = [
    { label: parts.title, href: `/${parts.uri}` },
    { label, href },
  ]
  return { type: 'state_breadcrumb', in: { links } }
}

function newPage(parts: Parts): Blocks {
  const { storage, uri, inputs, write } = parts
  return {
    add: {
      type: 'state_page',
      in: { url: `${uri}/new`, title: blueprintsTexts.newIn(parts.title) },
      scopes: [...write],
    },
    add_path: path(parts, blueprintsTexts.new, 'new'),
    add_heading: {
      type: 'state_h1',
      in: { state: '@add_path.state', text: blueprintsTexts.newIn(parts.title) },
    },
    add_form: {
      type: 'state_form',
      in: {
        state: '@add_heading.state',
        form_id: 'new',
        storage,
        inputs: [...inputs],
        label: blueprintsTexts.newIn(parts.title),
        submit_label: blueprintsTexts.create,
      },
    },
    add_shown: { type: 'state_render_page', in: { flow: '@add.flow', state: '@add_form.state' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@add_form.submit', storage, set: '=add_form.values' },
      fields: asUser,
    },
    created: {
      type: 'state_redirect',
      in: { flow: '@create.flow', url: `/${uri}`, message: blueprintsTexts.created },
    },
    not_created: {
      type: 'state_form_error',
      in: { flow: '@create.conflict', message: blueprintsTexts.valueTaken },
    },
  }
}

/** Where the document that a field refers to has its name. */
function nameBehind({ name, reference }: FieldRecord, { names }: Parts): string | undefined {
  const shown = reference ? names.get(reference.storage) : undefined
  return shown === undefined || name.includes('.') ? undefined : `_expand.${name}.${shown}`
}

function onePage(parts: Parts): Blocks {
  const { storage, uri, title, read, fields } = parts
  const shown = fields.map((field) => [field, nameBehind(field, parts)] as const)
  const expand = shown.flatMap(([{ name }, behind]) => (behind === undefined ? [] : [name]))
  const facts = shown.map(([{ name, label }, behind]) =>
    behind === undefined
      ? { field: name, ...(label && { label }) }
      : { field: behind, label: label || wordsOfField(name) },
  )
  return {
    view: { type: 'state_page', in: { url: `${uri}/{guid}/view`, title }, scopes: [...read] },
    viewed: {
      type: 'function_get_document',
      in: {
        ...{ flow: '@view.flow', storage, guid: '=params.guid' },
        ...(expand.length > 0 && { expand }),
      },
      fields: asUser,
    },
    missing: {
      type: 'fail',
      in: {
        flow: ['@viewed.not_found', '@edited.not_found'],
        status: 404,
        message: blueprintsTexts.noSuchDocument,
      },
    },
    view_path: path(parts, blueprintsTexts.document, 'view'),
    view_facts: {
      type: 'state_detail',
      in: { state: '@view_path.state', document: '@viewed.document', storage, fields: facts },
    },
    view_edit: {
      type: 'state_button',
      in: {
        state: '@view_facts.state',
        label: blueprintsTexts.edit,
        kind: 'link',
        url: 'edit',
        tone: 'primary',
      },
    },
    view_shown: { type: 'state_render_page', in: { flow: '@viewed.flow', state: '@view_edit.state' } },
  }
}

function editPage(parts: Parts): Blocks {
  const { storage, uri, inputs, write } = parts
  const guid = '=params.guid'
  return {
    edit: {
      type: 'state_page',
      in: { url: `${uri}/{guid}/edit`, title: blueprintsTexts.editIn(parts.title) },
      scopes: [...write],
    },
    edited: { type: 'function_get_document', in: { flow: '@edit.flow', storage, guid }, fields: asUser },
    edit_path: path(parts, blueprintsTexts.edit, 'edit'),
    edit_form: {
      type: 'state_form',
      in: {
        ...{ state: '@edit_path.state', form_id: 'edit', storage, label: blueprintsTexts.edit },
        document: '={ ...edited.document, update_hash: edited.document._meta.update_hash }',
        inputs: [...inputs, { field: 'update_hash', type: 'hidden' }],
      },
    },
    edit_remove: {
      type: 'state_button',
      in: {
        ...{ state: '@edit_form.state', label: blueprintsTexts.remove, kind: 'action', tone: 'danger' },
        confirm: blueprintsTexts.removeThisDocument,
      },
    },
    edit_shown: { type: 'state_render_page', in: { flow: '@edited.flow', state: '@edit_remove.state' } },
    save: {
      type: 'function_update_document_mutations',
      in: {
        ...{ flow: '@edit_form.submit', storage, guid },
        set: "=omit(edit_form.values, ['update_hash'])",
        update_hash: '=edit_form.values.update_hash',
      },
      fields: asUser,
    },
    saved: {
      type: 'state_redirect',
      in: { flow: '@save.flow', url: 'view', message: blueprintsTexts.saved },
    },
    not_saved: {
      type: 'state_form_error',
      in: {
        flow: ['@save.conflict', '@save.not_found'],
        message: blueprintsTexts.changedMeanwhile,
      },
    },
    remove: {
      type: 'function_remove_document',
      in: { flow: '@edit_remove.click', storage, guid },
      fields: asUser,
    },
    removed: {
      type: 'state_redirect',
      in: { flow: '@remove.flow', url: `/${uri}`, message: blueprintsTexts.removed },
    },
  }
}
