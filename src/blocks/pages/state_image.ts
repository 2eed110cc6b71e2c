import { appendNode } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import { pageHref } from './page-pins.ts'

export default defineValue({
  identifier: 'state_image',
  title: 'Image',
  summary: 'Adds a picture to the page, with a text alternative.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    url: {
      type: 'value',
      required: true,
      help: 'Address of the picture: a path of this server, such as /static/logo.png.',
    },
    alt: {
      type: 'value',
      default: '',
      help: 'Text alternative: describes the picture. Empty for a decorative picture.',
    },
    caption: { type: 'value', help: 'Caption under the picture.' },
    width: {
      type: 'number',
      min: 1,
      max: 10_000,
      integer: true,
      help: 'Width in pixels. With width and height the page does not shift while it loads.',
    },
    height: { type: 'number', min: 1, max: 10_000, integer: true, help: 'Height in pixels.' },
  },
  out: { state: { type: 'state', help: 'The page with the picture.' } },
  settings: {},
  value({ state, url, alt, caption, width, height }) {
    return {
      state: appendNode(state, {
        kind: 'image',
        src: pageHref('url', url),
        alt,
        ...(caption !== undefined && { caption }),
        ...(width !== undefined && { width }),
        ...(height !== undefined && { height }),
      }),
    }
  },
})
