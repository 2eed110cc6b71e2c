/** One component for each kind of node. A kind without one does not compile. */
import { type ComponentChild, cloneElement, Fragment, h, isValidElement } from 'preact'
import type { JsonValue } from '../../shared/json.ts'
import { hasErrors, type PageNode } from '../../shared/pages/page-content.ts'
import { imageSource } from '../address.ts'
import type { Drawing } from '../drawing.ts'
import type { ValueLook } from '../value-text.ts'
import { alert } from './alert.ts'
import { button } from './button.ts'
import { chart } from './chart.ts'
import { emptyState } from './empty-state.ts'
import { form } from './form.ts'
import { card, columns, tabs } from './groups.ts'
import { icon } from './icon.ts'
import { input } from './input.ts'
import { breadcrumb, navigation } from './layout.ts'
import { link } from './link.ts'
import { table } from './table.ts'
import { badge, drawValue } from './value.ts'

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

const classes = { normal: 'prose', lead: 'prose lead', muted: 'prose small', code: 'prose code' } as const

/** Line breaks stay; an empty line parts paragraphs. */
function text(node: { readonly text: string; readonly variant?: keyof typeof classes }): ComponentChild {
  const { variant = 'normal' } = node
  if (variant === 'code') return h('pre', { class: classes.code, tabIndex: 0 }, node.text)
  return h('p', { class: classes[variant] }, node.text)
}

/** A page has one heading of the first level; the layout decides which one it is. */
function heading({ level, text }: { readonly level: number; readonly text: string }): ComponentChild {
  return h(`h${Math.min(Math.max(level, 1), 6)}`, null, text)
}

interface Image {
  readonly src: string
  readonly alt: string
  readonly caption?: string
  readonly modules?: { readonly size: number; readonly path: string }
  readonly width?: number
  readonly height?: number
}

/** With width and height the page does not jump when it has loaded. An address that must not be used leaves the text. */
function image({ src, alt, caption, modules, width, height }: Image): ComponentChild {
  if (modules) return qrCode(modules, alt)
  const address = imageSource(src)
  return h(
    'figure',
    { class: 'image' },
    address === undefined
      ? alt
      : h('img', { src: address, alt, width, height, loading: 'lazy', decoding: 'async' }),
    caption === undefined ? null : h('figcaption', null, caption),
  )
}

/** Black on white in both themes: not every app reads an inverted code. */
function qrCode({ size, path }: NonNullable<Image['modules']>, alt: string): ComponentChild {
  const square = { viewBox: `0 0 ${size} ${size}`, width: 200, height: 200, role: 'img', 'aria-label': alt }
  return h(
    'figure',
    { class: 'image' },
    h(
      'svg',
      { ...square, 'shape-rendering': 'crispEdges' },
      h('rect', { width: size, height: size, fill: '#fff' }),
      h('path', { d: path, fill: '#000' }),
    ),
  )
}

interface List {
  readonly ordered?: boolean
  readonly items: readonly (readonly PageNode[])[]
  readonly empty?: string
}

/** Items of one line of text are a plain list; others are rows with a line between them. */
function list({ ordered = false, items, empty }: List, drawing: Drawing): ComponentChild {
  if (items.length === 0) return emptyState({ title: empty ?? drawing.say('list.empty') })
  const plain = ordered || items.every(([first, ...more]) => more.length === 0 && first?.kind === 'text')
  return h(
    ordered ? 'ol' : 'ul',
    { class: plain ? 'plain' : 'items' },
    items.map((nodes) => h('li', null, h('div', { class: 'item' }, drawing.draw(nodes)))),
  )
}

interface Detail {
  readonly items: readonly (ValueLook & { readonly label: string; readonly value: JsonValue })[]
}

/** One document: what each field is called, and what it holds. */
function detail({ items }: Detail, drawing: Drawing): ComponentChild {
  return h(
    'dl',
    { class: 'detail' },
    items.map((item) =>
      h('div', null, h('dt', null, item.label), h('dd', null, drawValue(item.value, item, drawing))),
    ),
  )
}

interface Modal {
  readonly id: string
  readonly label: string
  readonly title: string
  readonly content: readonly PageNode[]
}

/**
 * A button and what it opens. Without the module the browser opens it as a popover, above the page; the module makes it
 * modal, so that the page behind it cannot be reached meanwhile.
 */
function modal({ id: wish, label, title, content }: Modal, drawing: Drawing): ComponentChild {
  const id = drawing.id(wish)
  // A form that was refused is seen, without a popover: HTML cannot say that one is open.
  const look = hasErrors(content) ? { open: true } : { popover: 'auto' }
  return h(
    'div',
    null,
    h('button', { type: 'button', class: 'button', popovertarget: id, 'data-modal': id }, label),
    h(
      'dialog',
      { class: 'dialog', id, ...look, 'aria-labelledby': `${id}-title` },
      h(
        'header',
        null,
        h(`h${drawing.level}`, { id: `${id}-title` }, title),
        h(
          'button',
          {
            type: 'button',
            class: 'button quiet square',
            popovertarget: id,
            popovertargetaction: 'hide',
            'aria-label': drawing.say('close'),
          },
          icon('close'),
        ),
      ),
      h('div', { class: 'stack' }, drawing.deeper().draw(content)),
    ),
  )
}
