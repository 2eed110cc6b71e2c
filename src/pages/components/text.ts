import { type ComponentChild, h } from 'preact'

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
