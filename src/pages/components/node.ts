/** One component for each kind of node. A kind without one does not compile. */
import { type ComponentChild, cloneElement, Fragment, h, isValidElement } from 'preact'
import type { PageNode } from '../../shared/pages/page-content.ts'
import type { Drawing } from '../drawing.ts'
import { alert } from './alert.ts'
import { badge } from './badge.ts'
import { button } from './button.ts'
import { chart } from './chart.ts'
import { form } from './form.ts'
import { card, columns, tabs } from './groups.ts'
import { input } from './input.ts'
import { breadcrumb, navigation } from './layout.ts'
import { link } from './link.ts'
import { modal } from './modal.ts'
import { table } from './table.ts'
import { detail, heading, image, list, text } from './text-nodes.ts'

/** In a preview with the guid of its block. */
export function drawNode(node: PageNode, drawing: Drawing): ComponentChild {
  const drawn = componentOf(node, drawing)
  if (node.madeBy === undefined) return drawn
  const mark = { 'data-block': node.madeBy }
  return isValidElement(drawn) && typeof drawn.type === 'string'
    ? cloneElement(drawn, mark)
    : h('div', mark, drawn)
}

function componentOf(node: PageNode, drawing: Drawing): ComponentChild {
  switch (node.kind) {
    case 'heading':
      return heading(node)
    case 'text':
      return text(node)
    case 'image':
      return image(node)
    case 'link':
      return h('p', null, link(node))
    case 'columns':
      return columns(node, drawing)
    case 'card':
      return card(node, drawing)
    case 'tabs':
      return tabs(node, drawing)
    case 'modal':
      return modal(node, drawing)
    case 'alert':
      return alert(node)
    case 'badge':
      return badge(node)
    case 'list':
      return list(node, drawing)
    case 'detail':
      return detail(node, drawing)
    case 'chart':
      return chart(node, drawing)
    case 'navigation':
      return navigation(node)
    case 'breadcrumb':
      return breadcrumb(node, drawing)
    case 'form':
      return form(node, drawing)
    case 'input':
      return input(node, drawing)
    case 'button':
      return button(node, drawing)
    case 'table':
      return table(node, drawing)
    case 'datatable':
      // The door makes tables of these.
      return h(Fragment, null)
  }
}

/** What stands in a line rather than below each other. */
function isInline(node: PageNode): boolean {
  return (
    node.kind === 'button' ||
    node.kind === 'badge' ||
    node.kind === 'modal' ||
    (node.kind === 'form' && node.plain === true)
  )
}

/** Nodes below each other; buttons and badges that follow each other in a row. */
export function drawNodes(nodes: readonly PageNode[], drawing: Drawing): ComponentChild[] {
  const drawn: ComponentChild[] = []
  let row: PageNode[] = []
  const close = (): void => {
    if (row.length > 0)
      drawn.push(
        h(
          'div',
          { class: 'row form-actions' },
          row.map((node) => drawNode(node, drawing)),
        ),
      )
    row = []
  }
  for (const node of nodes) {
    if (isInline(node)) row.push(node)
    else {
      close()
      drawn.push(drawNode(node, drawing))
    }
  }
  close()
  return drawn
}
