/**
 * A table in a card: title and tools above, rows, pages below. Search, filters, columns and pages are links and GET forms;
 * the rows stand in one POST form, so that buttons of rows and check boxes need no script.
 */
import { type ComponentChild, h } from 'preact'
import type { PageTable, TableAction } from '../../shared/pages/page-table.ts'
import type { Drawing } from '../drawing.ts'
import { actionButton } from './action-button.ts'
import { emptyState } from './empty-state.ts'
import { hiddenInputs } from './form.ts'
import { tableFoot } from './table-foot.ts'
import { tableRows } from './table-rows.ts'
import { tableTools } from './table-tools.ts'

export function table(node: PageTable, drawing: Drawing): ComponentChild {
  const { say } = drawing
  const title = `${node.id}-title`
  const inner = drawing.deeper()
  return h(
    'section',
    {
      class: 'table-card',
      id: node.id,
      'aria-labelledby': title,
      'data-table': '',
      'data-live': node.live ? '' : undefined,
    },
    h(
      'div',
      { class: 'table-head' },
      h(
        'div',
        { class: 'table-title' },
        h(`h${drawing.level}`, { id: title }, node.caption),
        node.total === undefined
          ? null
          : h('span', { class: 'soft', role: 'status' }, say.counted('table.rows', node.total)),
      ),
      tableTools(node, drawing),
    ),
    node.rows.length === 0 ? nothing(node, inner) : rows(node, title, inner),
    tableFoot(node, drawing),
  )
}

function nothing({ search, empty }: PageTable, { say }: Drawing): ComponentChild {
  if (!search?.active) return emptyState({ title: empty ?? say('table.empty') })
  return emptyState({
    title: say('table.empty.found'),
    text: say('table.empty.found.text'),
    action: h('a', { class: 'button small', href: search.clearHref, 'data-part': '' }, say('table.clear')),
  })
}

function rows(node: PageTable, title: string, drawing: Drawing): ComponentChild {
  const scroll = h(
    'div',
    // What scrolls can be reached with the keyboard.
    { class: 'table-scroll', role: 'group', 'aria-labelledby': title, tabIndex: 0 },
    tableRows(node, drawing),
  )
  const { actions } = node
  if (!actions) return scroll
  return h(
    'form',
    { method: 'post', action: actions.action, 'data-send': '', class: 'rows-form' },
    hiddenInputs(actions.hidden),
    actions.rows.length === 0 ? null : bulkBar(actions.rows, actions.bulkName, drawing),
    scroll,
  )
}

function bulkBar(offered: readonly TableAction[], name: string, drawing: Drawing): ComponentChild {
  const { say } = drawing
  return h(
    'div',
    { class: 'bulk', role: 'group', 'aria-label': say('table.selected') },
    h(
      'span',
      {
        'data-selected': '',
        'data-one': say.counted('table.selected', 1),
        'data-other': say('table.selected.other', { count: '{count}' }),
      },
      say('table.selected'),
    ),
    offered.map((action) => actionButton(action, { name, value: action.name }, 'small', drawing)),
  )
}
