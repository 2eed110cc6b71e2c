/** What is around the content: bar or side column with brand, navigation and person, footer. */
import { type ComponentChild, h } from 'preact'
import type { PageLink, PageView } from '../../shared/pages/page-content.ts'
import type { TemplateLink, TemplateSettings } from '../../shared/pages/page-template.ts'
import { imageSource, linkTo } from '../address.ts'
import type { Drawing } from '../drawing.ts'
import { hiddenInputs } from './form.ts'
import { icon } from './icon.ts'
import { link } from './link.ts'

export function layout(
  view: PageView,
  settings: TemplateSettings,
  main: ComponentChild,
  drawing: Drawing,
): ComponentChild {
  const { say } = drawing
  const { footer } = settings
  return h(
    'div',
    { class: settings.layout === 'side' ? 'shell side' : 'shell' },
    h('a', { class: 'skip unseen', href: '#main' }, say('skip')),
    bar(view, settings, drawing),
    main,
    footer === undefined ? null : h('footer', { class: 'foot' }, footer),
  )
}

function bar(view: PageView, settings: TemplateSettings, drawing: Drawing): ComponentChild {
  const { say } = drawing
  const { brand, navigation, account } = settings
  const logo = brand.logo === undefined ? undefined : imageSource(brand.logo)
  const hasMenu = navigation.length > 0 || account
  return h(
    'header',
    { class: 'bar' },
    h(
      'a',
      { class: 'brand', ...linkTo(brand.href) },
      logo === undefined ? mark() : h('img', { src: logo, alt: '' }),
      h('span', null, brand.label),
    ),
    hasMenu
      ? [
          h(
            'button',
            { type: 'button', class: 'button quiet square menu-opener', popovertarget: 'menu' },
            icon('menu'),
            say('menu'),
          ),
          h(
            'div',
            // On a phone it opens over the page, without a script; on a wide screen the style sheet lays it into the bar.
            { class: 'menu', id: 'menu', popover: 'auto' },
            navigation.length === 0 ? null : menu(navigation, view.url, drawing),
            account ? person(view, drawing) : null,
          ),
        ]
      : null,
  )
}

function menu(links: readonly TemplateLink[], url: string, { say }: Drawing): ComponentChild {
  const here = currentOf(links, url)
  return h(
    'nav',
    { 'aria-label': say('menu.label') },
    groupsOf(links).map(({ group, links: members }) => [
      group === undefined ? null : h('p', { class: 'menu-group' }, group),
      h(
        'ul',
        null,
        members.map((one) =>
          h(
            'li',
            null,
            h('a', { ...linkTo(one.href), 'aria-current': one === here ? 'page' : undefined }, one.label),
          ),
        ),
      ),
    ]),
  )
}

function groupsOf(links: readonly TemplateLink[]): { group: string | undefined; links: TemplateLink[] }[] {
  const groups: { group: string | undefined; links: TemplateLink[] }[] = []
  for (const link of links) {
    const last = groups.at(-1)
    if (last && last.group === link.group) last.links.push(link)
    else groups.push({ group: link.group, links: [link] })
  }
  return groups
}

/** The link to this page, or else the longest one that this page lies under: `/customers` for `/customers/7`. */
function currentOf(links: readonly TemplateLink[], url: string): TemplateLink | undefined {
  const path = pathOf(url)
  const above = links.filter(({ href }) => {
    const target = pathOf(href)
    return target === path || (target !== '/' && path.startsWith(`${target}/`))
  })
  return above.sort((a, b) => pathOf(b.href).length - pathOf(a.href).length)[0]
}

function pathOf(address: string): string {
  const path = /^[^?#]*/.exec(address)?.[0] ?? ''
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** The stone at the corner of two walls. */
function mark(): ComponentChild {
  return h(
    'svg',
    { viewBox: '0 0 28 28', 'aria-hidden': 'true', focusable: 'false' },
    h('path', {
      fill: 'currentColor',
      d: 'M4 3h20a1 1 0 011 1v7a1 1 0 01-1 1H14v12a1 1 0 01-1 1H4a1 1 0 01-1-1V4a1 1 0 011-1z',
    }),
    h('path', {
      fill: 'currentColor',
      opacity: '.45',
      d: 'M17 15h7a1 1 0 011 1v8a1 1 0 01-1 1h-7a1 1 0 01-1-1v-8a1 1 0 011-1z',
    }),
  )
}

/** Who is signed in and the way out, or the way in; and the switch between light and dark, which needs the module. */
function person({ user, hidden, url }: PageView, { say }: Drawing): ComponentChild {
  // The form of the page at this address, sent from here without its question.
  const pairs = Object.entries({ _form: 'signout', ...hidden }).map(([name, value]) => ({ name, value }))
  return h(
    'div',
    { class: 'person' },
    h(
      'button',
      {
        type: 'button',
        class: 'button quiet small square needs-script',
        'data-theme-switch': '',
        'data-dark': say('theme.dark'),
        'data-light': say('theme.light'),
        'aria-label': say('theme.dark'),
      },
      icon('moon'),
    ),
    user
      ? [
          h(
            'a',
            { class: 'person-name', href: '/password', title: say('password.title') },
            h('span', { class: 'initial', 'aria-hidden': 'true' }, initialOf(user.name)),
            user.name,
          ),
          h(
            'form',
            { method: 'post', action: '/logout', class: 'plain-form' },
            hiddenInputs(pairs),
            h('button', { class: 'button quiet small' }, icon('out', true), say('signout.submit')),
          ),
        ]
      : h('a', { href: signInFrom(url) }, say('signin.link')),
  )
}

/** On the page itself it keeps where its visitor wants to go. */
function signInFrom(url: string): string {
  return /^\/login(?:\?|$)/.test(url) ? url : `/login?next=${encodeURIComponent(url)}`
}

function initialOf(name: string): string {
  const [first = '?'] = name.trim()
  return first.toUpperCase()
}

/** Links between parts of an application, in a line. */
export function navigation({ label, links }: { label?: string; links: readonly PageLink[] }): ComponentChild {
  return h(
    'nav',
    {
      class: 'side-nav',
      'aria-label':
        label ??
        links
          .map((one) => one.label)
          .slice(0, 3)
          .join(', '),
    },
    h(
      'ul',
      null,
      links.map((one) => h('li', null, link(one))),
    ),
  )
}

/** From the start to this page. The last one is this page unless the links say otherwise. */
export function breadcrumb({ links }: { links: readonly PageLink[] }, { say }: Drawing): ComponentChild {
  const marked = links.some((one) => one.current)
  return h(
    'nav',
    { class: 'crumbs', 'aria-label': say('crumbs.label') },
    h(
      'ol',
      null,
      links.map((one, at) =>
        h('li', null, link({ ...one, current: marked ? one.current === true : at === links.length - 1 })),
      ),
    ),
  )
}
