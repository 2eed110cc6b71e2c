/** What is above a table: search, filters, which columns, export. All of it are GET forms and links. */
import { type ComponentChild, h } from 'preact'
import type { PageTable, TableInput } from '../../shared/pages/page-table.ts'
import type { Drawing } from '../drawing.ts'
import { hiddenInputs } from './form.ts'
import { icon } from './icon.ts'

export function tableTools(node: PageTable, drawing: Drawing): ComponentChild | null {
  const { search, columnChoice, exportHref } = node
  if (!search && !columnChoice && exportHref === undefined) return null
  return h(
    'div',
    { class: 'table-tools' },
    search ? searchForm(node.id, search, drawing) : null,
    columnChoice ? columnForm(node.id, columnChoice, drawing) : null,
    exportHref === undefined
      ? null
      : h(
          'a',
          { class: 'button small', href: exportHref, download: '' },
          icon('export'),
          drawing.say('table.export'),
        ),
  )
}

function searchForm(id: string, search: NonNullable<PageTable['search']>, drawing: Drawing): ComponentChild {
  const { say } = drawing
  const free = search.inputs.find((input) => input.free)
  const filters = search.inputs.filter((input) => input !== free)
  const set = filters.filter(({ value, checked }) => checked ?? value !== '').length
  return h(
    'form',
    { class: 'search-form', role: 'search', method: 'get', action: search.action, 'data-part': '' },
    hiddenInputs(search.hidden),
    free ? searchBox(id, free, drawing) : null,
    filters.length === 0
      ? null
      : h(
          'details',
          { class: 'drop', id: `${id}-filters` },
          h(
            'summary',
            { class: 'button small' },
            icon('filter'),
            say('table.filters'),
            set === 0 ? null : h('span', { class: 'count' }, String(set)),
          ),
          h(
            'div',
            { class: 'drop-panel' },
            filters.map((input) => filterField(id, input, drawing)),
            h(
              'div',
              { class: 'form-actions' },
              h('button', { class: 'button primary small' }, say('table.apply')),
              clear(search, drawing),
            ),
          ),
        ),
    filters.length === 0 && search.active ? clear(search, drawing) : null,
  )
}

function clear(search: NonNullable<PageTable['search']>, { say }: Drawing): ComponentChild | null {
  if (!search.active) return null
  return h('a', { class: 'button quiet small', href: search.clearHref, 'data-part': '' }, say('table.clear'))
}

function searchBox(table: string, { name, label, value }: TableInput, { say }: Drawing): ComponentChild {
  const id = `${table}-search`
  return h(
    'div',
    { class: 'search' },
    h('label', { class: 'unseen', for: id }, label),
    h('input', {
      id,
      class: 'control',
      type: 'search',
      name,
      value,
      placeholder: label,
      autocomplete: 'off',
      'data-typed': '',
    }),
    h('button', { class: 'button square', 'aria-label': say('table.search.go') }, icon('search')),
  )
}

function filterField(table: string, input: TableInput, drawing: Drawing): ComponentChild {
  const { name, label, type, value, options = [], checked } = input
  const id = `${table}-${name}`
  if (type === 'check') return tick(id, input)
  const control =
    type === 'choice'
      ? h(
          'select',
          { id, name, class: 'control' },
          options.some((option) => option.value === '')
            ? null
            : h('option', { value: '' }, drawing.say('table.any')),
          options.map((option) =>
            h('option', { value: option.value, selected: option.value === value }, option.label),
          ),
        )
      : h('input', {
          id,
          name,
          class: 'control',
          type,
          value,
          step: type === 'number' ? 'any' : undefined,
          checked,
        })
  return h('div', { class: 'field' }, h('label', { for: id }, label), control)
}

function tick(id: string, { name, label, value, checked }: TableInput): ComponentChild {
  const own = `${id}-${value}`
  return h(
    'label',
    { class: 'tick', for: own },
    h('input', { type: 'checkbox', id: own, name, value, checked: checked === true }),
    h('span', null, label),
  )
}

function columnForm(
  id: string,
  choice: NonNullable<PageTable['columnChoice']>,
  { say }: Drawing,
): ComponentChild {
  return h(
    'details',
    { class: 'drop', id: `${id}-columns` },
    h('summary', { class: 'button small' }, icon('columns'), say('table.columns')),
    h(
      'form',
      { class: 'drop-panel', method: 'get', action: choice.action, 'data-part': '' },
      hiddenInputs(choice.hidden),
      h(
        'fieldset',
        { class: 'field' },
        h('legend', { class: 'unseen' }, say('table.columns')),
        h(
          'div',
          { class: 'ticks' },
          choice.inputs.map((one) => tick(`${id}-column`, one)),
        ),
      ),
      h('div', { class: 'form-actions' }, h('button', { class: 'button primary small' }, say('table.apply'))),
    ),
  )
}
