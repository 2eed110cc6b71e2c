import { appendNode } from '../../shared/pages/page-content.ts'
import type { TableColumn } from '../../shared/pages/page-table.ts'
import type { Query, SortKey } from '../../shared/query.ts'
import { defineValue } from '../block.ts'
import { builderStorage } from '../names.ts'
import { narrowed, whereIn } from '../pins/query-pins.ts'
import { formId } from './page-pins.ts'
import { actionParts, checkCells, columnParts, tableActions, tableColumns } from './table-columns.ts'

export default defineValue({
  identifier: 'state_advanced_datatable',
  title: 'Data table',
  words: 'Table of {storage}[ where {where|query}]',
  summary:
    'Adds a table of documents that visitors can search, filter, sort, page through and save as CSV. All of it happens on the server and is part of the address, so that a view can be linked. Only the named columns can be read.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    storage: { type: 'storage', required: true, help: 'The storage to show.' },
    query: { type: 'query', help: 'Filter. Empty: all documents.' },
    where: whereIn,
    sort: {
      type: 'sort',
      several: true,
      help: 'The order until a visitor chooses one: fields such as country, amount desc. Empty: newest first.',
    },
    columns: {
      type: 'array',
      required: true,
      rows: columnParts,
      help: 'At most 100: names of fields, or objects with field, label, kind (text, number, currency, date, date_time, boolean, badge …), format (an expression for what a cell shows: `=doc.price * doc.count`, where value is the field), sortable, filter (text, choice, number, date, boolean), options, hidden and currency.',
    },
    table_id: {
      type: 'value',
      help: 'Name of the table in the address, unique on the page. Empty: name of the storage.',
    },
    caption: { type: 'value', help: 'Title of the table. Empty: name of the storage.' },
    page_size: { type: 'number', default: 25, min: 1, max: 500, integer: true, help: 'Rows per page.' },
    searchable: { type: 'condition', default: true, help: 'Show a field for free text search.' },
    row_link: {
      type: 'value',
      help: 'Where a row leads: a path with fields in braces, such as /tasks/{_meta.guid}.',
    },
    actions: {
      type: 'array',
      rows: actionParts,
      help: 'Actions on rows: names, or objects with name, label, confirm, tone (danger) and for (row, rows or both).',
    },
    exportable: { type: 'condition', default: true, help: 'Allow saving as CSV.' },
    live: { type: 'condition', default: true, help: 'Update live when its documents change.' },
    empty: { type: 'value', help: 'Shown when there are no rows.' },
  },
  out: {
    state: { type: 'state', help: 'The page with the table.' },
    row_action: {
      type: 'flow',
      event: true,
      help: 'Continues here when a visitor chooses an action for one or several rows.',
    },
    action: { type: 'value', event: true, help: 'After row_action: name of the action.' },
    guid: {
      type: 'value',
      event: true,
      help: 'After row_action: guid of the document, or of the first one.',
    },
    guids: { type: 'array', event: true, help: 'After row_action: guids of all chosen documents.' },
  },
  settings: {},
  searches({ columns, searchable }) {
    const known = knownColumns(columns)
    return {
      sorts: known.filter(({ sortable }) => sortable).map(({ field }) => sortBy(field)),
      filters: known.flatMap(filterBy),
      text: searchable !== false,
    }
  },
  check({ columns, actions, table_id: id }) {
    if (columns !== undefined) checkCells(tableColumns(columns))
    tableActions(actions ?? [])
    if (id !== undefined) formId('table_id', id)
  },
  value(inputs, context) {
    const storage = builderStorage(inputs.storage)
    return {
      state: appendNode(inputs.state, {
        kind: 'datatable',
        id: inputs.table_id === undefined ? storage : formId('table_id', inputs.table_id),
        block: context.block ?? '',
        caption: inputs.caption ?? storage,
        storage,
        query: narrowed(inputs.query, inputs.where),
        sort: inputs.sort,
        columns: tableColumns(inputs.columns),
        pageSize: inputs.page_size,
        searchable: inputs.searchable,
        actions: tableActions(inputs.actions ?? []),
        exportable: inputs.exportable,
        live: inputs.live,
        ...(inputs.row_link !== undefined && { rowLink: inputs.row_link }),
        ...(inputs.empty !== undefined && { empty: inputs.empty }),
      }),
    }
  },
})

/** While a blueprint is compiled, columns that only a run knows are not there yet. */
function knownColumns(columns: Parameters<typeof tableColumns>[0] | undefined): readonly TableColumn[] {
  try {
    return tableColumns(columns ?? [])
  } catch {
    return []
  }
}

function sortBy(field: string): SortKey {
  return { field, order: 'asc', missing: 'last' }
}

/** A filter of the kind that the column offers; free text has an index of its own. */
function filterBy({ field, filter }: TableColumn): Query[] {
  if (filter === undefined || filter === 'text') return []
  if (filter === 'number' || filter === 'date') return [{ kind: 'range', field, bounds: { gte: 0 } }]
  return [{ kind: 'term', field, value: true }]
}
