import { appendNode } from '../../shared/page-content.ts'
import { defineValue } from '../block.ts'
import { pageHref } from './page-href.ts'

export default defineValue({
  identifier: 'state_image',
  title: 'Image',
  summary: 'Adds a picture to the page, with a text for those who do not see it.',
  in: {
    state: { type: 'state', help: 'What is above it.' },
    url: {
      type: 'value',
      required: true,
      help: 'Where the picture is: a path of this server, such as /static/logo.png.',
    },
    alt: {
      type: 'value',
      default: '',
      help: 'What is to be seen on it. Empty for a picture that is only there to please.',
    },
    caption: { type: 'value', help: 'Words under the picture.' },
    width: {
      type: 'number',
      min: 1,
      max: 10_000,
      integer: true,
      help: 'In pixels. With width and height the page does not jump while it loads.',
    },
    height: { type: 'number', min: 1, max: 10_000, integer: true, help: 'In pixels.' },
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
