import { type ComponentChild, h } from 'preact'
import { imageSource } from '../address.ts'

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
