import { type ComponentChild, h } from 'preact'
import type { JsonValue } from '../../shared/json.ts'
import type { PageNode } from '../../shared/pages/page-content.ts'
import { imageSource } from '../address.ts'
import type { Drawing } from '../drawing.ts'
import type { ValueLook } from '../value-text.ts'
import { emptyState } from './empty-state.ts'
import { drawValue } from './value.ts'

const classes = { normal: 'prose', lead: 'prose lead', muted: 'prose small', code: 'prose code' } as const

/** Line breaks stay; an empty line parts paragraphs. */
export function text(node: {
  readonly text: string
  readonly variant?: keyof typeof classes
}): ComponentChild {
  const { variant = 'normal' } = node
  if (variant === 'code') return h('pre', { class: classes.code, tabIndex: 0 }, node.text)
  return h('p', { class: classes[variant] }, node.text)
}

/** A page has one heading of the first level; the layout decides which one it is. */
export function heading({ level, text }: { readonly level: number; readonly text: string }): ComponentChild {
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
export function image({ src, alt, caption, modules, width, height }: Image): ComponentChild {
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
export function list({ ordered = false, items, empty }: List, drawing: Drawing): ComponentChild {
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
export function detail({ items }: Detail, drawing: Drawing): ComponentChild {
  return h(
    'dl',
    { class: 'detail' },
    items.map((item) =>
      h('div', null, h('dt', null, item.label), h('dd', null, drawValue(item.value, item, drawing))),
    ),
  )
}
