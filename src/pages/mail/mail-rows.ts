/** Rows and columns in a mail: tables of data, fields of a document, figures of a chart. */
import { type ComponentChild, h } from 'preact'
import type { JsonValue } from '../../shared/json.ts'
import type { PageNode } from '../../shared/pages/page-content.ts'
import type { PageTable, ShownColumn, TableRow } from '../../shared/pages/page-table.ts'
import type { ValueFormat } from '../../shared/value-format.ts'
import { headingStyles, type MailDrawing, styles } from './mail-styles.ts'
import { mailValue } from './mail-value.ts'

type Detail = Extract<PageNode, { kind: 'detail' }>
type Chart = Extract<PageNode, { kind: 'chart' }>
type Rows = Pick<PageTable, 'caption' | 'columns' | 'rows' | 'empty'> & { readonly more?: boolean }

const attributes = { width: '100%', cellpadding: '0', cellspacing: '0', border: '0', style: styles.full }
/** The space in cells is an attribute of the table: in the style of each cell it would count often. */
const ofData = { ...attributes, cellpadding: '6', class: 'q-rows', style: styles.rows }
/** On a phone days may take two lines there: the table would be wider than the screen. */
const ofManyColumns = { ...ofData, class: 'q-rows q-many', style: styles.manyColumns }
/** From here on the letters are smaller. */
const MANY_COLUMNS = 6

/** For what is no table to those who have it read out. */
export function grid(...rows: readonly ComponentChild[]): ComponentChild {
  return h('table', { ...attributes, role: 'presentation' }, rows)
}

export function mailTitle(text: string, level: number): ComponentChild {
  return h(`h${level}`, { style: headingStyles[level - 1] }, text)
}

export function mailTable({ caption, columns, rows, empty, more }: Rows, drawing: MailDrawing) {
  return [
    caption === '' ? null : mailTitle(caption, drawing.level),
    rows.length === 0
      ? h('p', { class: 'q-soft', style: styles.soft }, empty ?? drawing.say('table.empty'))
      : h(
          'table',
          columns.length < MANY_COLUMNS ? ofData : ofManyColumns,
          h('tr', null, columns.map(header)),
          rows.map((row) => tableRow(row, columns, drawing)),
        ),
    more ? h('p', { class: 'q-soft', style: styles.soft }, drawing.say('mail.more')) : null,
  ]
}

function header({ label, format }: ShownColumn): ComponentChild {
  return h('th', { scope: 'col', align: isNumber(format) ? 'right' : 'left', style: styles.head }, label)
}

function tableRow(row: TableRow, columns: readonly ShownColumn[], drawing: MailDrawing): ComponentChild {
  return h(
    'tr',
    { valign: 'top' },
    columns.map((column, at) => {
      const look = at === 0 && row.href !== undefined ? { ...column, href: row.href } : column
      return cell(row.cells[at], look, drawing)
    }),
  )
}

function cell(
  value: JsonValue | undefined,
  look: Parameters<typeof mailValue>[1],
  drawing: MailDrawing,
): ComponentChild {
  return h('td', { style: cellStyle(value, look.format) }, mailValue(value, look, drawing))
}

function cellStyle(value: JsonValue | undefined, format: ValueFormat): string {
  if (isNumber(format) && typeof value === 'number') return styles.number
  if (format === 'date') return styles.dayCell
  return typeof value === 'string' && /\S{25}/.test(value) ? styles.longCell : styles.cell
}

function isNumber(format: ValueFormat): boolean {
  return format === 'number' || format === 'currency' || format === 'percent'
}

export function mailDetail({ items }: Detail, drawing: MailDrawing): ComponentChild {
  return h(
    'table',
    { ...ofData, role: 'presentation' },
    items.map((item) =>
      h(
        'tr',
        { valign: 'top' },
        h('th', { scope: 'row', align: 'left', class: 'q-soft', style: styles.term }, item.label),
        h('td', { style: cellStyle(item.value, item.format) }, mailValue(item.value, item, drawing)),
      ),
    ),
  )
}

/** Mail programs show no drawings, so a chart is the table of its figures. */
export function mailChart(chart: Chart, drawing: MailDrawing) {
  return mailTable(chartRows(chart, drawing), drawing)
}

export function chartRows(
  { title, heading, labels, series, format = 'number', currency }: Chart,
  { say }: Pick<MailDrawing, 'say'>,
): Rows {
  const look = { format, ...(currency !== undefined && { currency }) }
  return {
    caption: title,
    empty: say('chart.empty'),
    columns: [
      { field: 'label', label: heading ?? say('chart.label'), format: 'text' },
      ...series.map(({ name }) => ({ field: name, label: name, ...look })),
    ],
    rows: labels.map((label, at) => ({
      key: String(at),
      cells: [label, ...series.map(({ values }) => values[at] ?? null)],
    })),
  }
}
