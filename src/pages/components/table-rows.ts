import { type ComponentChild, h } from 'preact'
import type { PageTable, ShownColumn, TableRow } from '../../shared/pages/page-table.ts'
import type { ValueFormat } from '../../shared/value-format.ts'
import { linkTo } from '../address.ts'
import type { Drawing } from '../drawing.ts'
import { isBlank } from '../value-text.ts'
import { actionButton } from './button.ts'
import { drawValue } from './value.ts'

const directions = { asc: 'ascending', desc: 'descending' } as const

/** How the cells of a column lie. Numbers end at one line, so that their sizes can be compared. */
const cellClasses: Readonly<Partial<Record<ValueFormat, string>>> = {
  number: 'number',
  currency: 'number',
  percent: 'number',
  date: 'date',
  date_time: 'date',
  relative_time: 'date',
}

/**
 * On a phone the style sheet turns rows into small cards; the roles keep it a table for those who have it read out, and
 * `data-label` repeats the column's name beside each value.
 */
export function tableRows(node: PageTable, drawing: Drawing): ComponentChild {
  const picks = (node.actions?.rows.length ?? 0) > 0
  const offered = node.actions?.row ?? []
  const { say } = drawing
  return h(
    'table',
    { class: 'table', role: 'table' },
    h('caption', { class: 'unseen' }, node.caption),
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        picks
          ? h('th', { class: 'picks', scope: 'col', role: 'columnheader' }, pickAll(node, drawing))
          : null,
        node.columns.map((column) => header(column, drawing)),
        offered.length === 0
          ? null
          : h(
              'th',
              { class: 'actions', scope: 'col', role: 'columnheader' },
              h('span', { class: 'unseen' }, say('table.actions')),
            ),
      ),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      node.rows.map((row) => tableRow(row, node, drawing)),
    ),
  )
}

function pickAll({ id }: PageTable, { say }: Drawing): ComponentChild[] {
  return [
    h('span', { class: 'unseen' }, say('table.selected')),
    h('input', {
      type: 'checkbox',
      class: 'pick needs-script',
      id: `${id}-all`,
      'aria-label': say('table.select.all'),
      'data-all': '',
    }),
  ]
}

function header({ label, format, sorted, sortHref }: ShownColumn, { say }: Drawing): ComponentChild {
  const attributes = {
    scope: 'col',
    role: 'columnheader',
    class: cellClasses[format],
    'aria-sort': sorted === undefined ? undefined : directions[sorted],
  }
  if (sortHref === undefined) return h('th', attributes, label)
  return h(
    'th',
    attributes,
    h(
      'a',
      { ...linkTo(sortHref), class: 'sort', title: say('table.sort', { column: label }), 'data-part': '' },
      label,
    ),
  )
}

function tableRow(row: TableRow, node: PageTable, drawing: Drawing): ComponentChild {
  const { actions, columns, id } = node
  const name = nameOf(row, drawing)
  return h(
    'tr',
    { role: 'row' },
    actions && actions.rows.length > 0
      ? h(
          'td',
          { class: 'picks', role: 'cell' },
          row.isFixed
            ? null
            : h('input', {
                type: 'checkbox',
                class: 'pick',
                id: `${id}-${row.key}`,
                name: actions.rowsName,
                value: row.key,
                'aria-label': drawing.say('table.select', { row: name }),
              }),
        )
      : null,
    columns.map((column, at) => cell(column, row, at, drawing)),
    actions && actions.row.length > 0
      ? h(
          'td',
          { class: 'actions', role: 'cell' },
          (row.isFixed ? [] : actions.row).map((action) =>
            actionButton(
              action,
              { name: actions.rowName, value: `${action.name} ${row.key}` },
              [id, row.key],
              drawing,
            ),
          ),
        )
      : null,
  )
}

/** The first column names the row: it is its header, and where it leads is linked there. */
function cell(column: ShownColumn, row: TableRow, at: number, drawing: Drawing): ComponentChild {
  const value = row.cells[at]
  const look = { format: column.format, ...(column.currency !== undefined && { currency: column.currency }) }
  const href = at === 0 ? row.href : undefined
  const content = drawValue(value, href === undefined ? look : { ...look, href }, drawing)
  if (at === 0)
    return h('th', { scope: 'row', role: 'rowheader', class: cellClasses[column.format] }, content)
  const long = typeof value === 'string' && value.length > 60 ? 'long' : undefined
  const classes = [cellClasses[column.format] ?? long, isBlank(value) ? 'blank' : undefined].filter(Boolean)
  return h('td', { role: 'cell', class: classes.join(' ') || undefined, 'data-label': column.label }, content)
}

function nameOf(row: TableRow, { say }: Drawing): string {
  const [first] = row.cells
  return typeof first === 'string' || typeof first === 'number'
    ? String(first).slice(0, 100)
    : say('value.none.label')
}
