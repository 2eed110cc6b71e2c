import { type ComponentChild, h } from 'preact'
import { imageSource } from '../address.ts'

interface Image {
  readonly src: string
  readonly alt: string
  readonly caption?: string
  readonly width?: number
  readonly height?: number
}

/** With width and height the page does not jump when it has loaded. An address that must not be used leaves the text. */
export function image({ src, alt, caption, width, height }: Image): ComponentChild {
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
