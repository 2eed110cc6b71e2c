/** What the forms before and over the studio are made of, without React. */
import { ApiError, messageOf } from '../api/api-error.ts'
import { signInTexts } from '../texts/sign-in.ts'

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>>,
  ...content: readonly (string | Node)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...content)
  return made
}

/** What was typed can be looked at: on a phone passwords are typed wrong more often than not. */
export function passwordField(input: HTMLInputElement): HTMLElement {
  input.id = 'sign-in-password'
  const show = element('button', { type: 'button', 'aria-controls': input.id }, signInTexts.show)
  show.addEventListener('click', () => {
    const isHidden = input.type === 'password'
    input.type = isHidden ? 'text' : 'password'
    show.replaceChildren(isHidden ? signInTexts.hide : signInTexts.show)
    input.focus()
  })
  return element(
    'div',
    { class: 'sign-in-password' },
    element('label', { for: input.id }, signInTexts.password),
    input,
    show,
  )
}

export function showRefusal(
  notice: HTMLElement,
  error: unknown,
  title: string = signInTexts.notSignedIn,
): void {
  const found = error instanceof ApiError ? [error.code, error.request].filter((word) => word !== '') : []
  notice.classList.remove('sign-in-expired')
  notice.classList.add('sign-in-refused')
  notice.setAttribute('role', 'alert')
  notice.replaceChildren(
    element('strong', {}, title),
    element('span', {}, messageOf(error)),
    element('code', {}, found.join(' · ')),
  )
}

/** A cover over everything that is shown. `uncover` takes it away and puts the cursor back where it was. */
export function openCover(): { readonly cover: HTMLElement; readonly uncover: () => void } {
  const { activeElement: focused } = document
  const covered = [...document.body.children].filter((one) => one instanceof HTMLElement && !one.inert)
  const cover = element('div', { class: 'sign-in-cover' })
  for (const one of covered) one.toggleAttribute('inert', true)
  document.body.append(cover)
  // Keys are for the form, and Escape closes no dialog below it.
  cover.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement) target.setAttribute('data-mantine-stop-propagation', 'true')
  })
  cover.addEventListener('keydown', (event) => event.stopPropagation())
  return {
    cover,
    uncover() {
      cover.remove()
      for (const one of covered) one.toggleAttribute('inert', false)
      if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
    },
  }
}

/** Milliseconds since the last key after which a user has stopped typing. */
const TYPING_MS = 10_000

/** Where keys write. */
const FIELDS = ['input', 'textarea', 'select', '[contenteditable="true"]'].join()

const BUTTONS = ['button', 'a'].join()

export interface Typing {
  isTyping(): boolean
  /**
   * Says over what is shown that the session has ended, while its user goes on typing. Calls `signIn` when its button or F6 is pressed, or
   * something else than a field. Gives what takes it away.
   */
  showEnded(signIn: () => void): () => void
}

/** Follows whether keys are pressed for what is shown: a form that takes the focus then would get the next ones. */
export function watchTyping(): Typing {
  let typedAt = Number.NEGATIVE_INFINITY
  let signIn: (() => void) | undefined
  const isTyping = () => performance.now() - typedAt < TYPING_MS
  const isIn = ({ target }: Event, places: string) =>
    target instanceof Element && target.closest(places) !== null
  // Before all listeners of the studio, which is loaded later.
  const listen = <K extends keyof WindowEventMap>(name: K, heard: (event: WindowEventMap[K]) => void) =>
    addEventListener(name, heard, { capture: true })
  // Of a file or a box that is chosen it is another event.
  listen('input', (event) => {
    if (event instanceof InputEvent) typedAt = event.timeStamp
  })
  listen('keydown', (event) => {
    const presses = (event.key === 'Enter' || event.key === ' ') && isIn(event, BUTTONS)
    typedAt = presses ? Number.NEGATIVE_INFINITY : event.timeStamp
    if (!signIn || (event.key !== 'Escape' && event.key !== 'F6')) return
    // Escape is for the message, and would close what is typed into.
    event.preventDefault()
    event.stopImmediatePropagation()
    if (event.key === 'F6') signIn()
  })
  listen('pointerdown', (event) => {
    if (!isIn(event, FIELDS)) typedAt = Number.NEGATIVE_INFINITY
  })
  // Behind what the click does: a form that is saved waits for the sign-in.
  listen('click', (event) => {
    if (!isTyping() && !isIn(event, FIELDS)) setTimeout(() => signIn?.())
  })
  return {
    isTyping,
    showEnded(asked) {
      signIn = asked
      const bar = endedBar(asked)
      return () => {
        signIn = undefined
        bar.remove()
      }
    },
  }
}

function endedBar(signIn: () => void): HTMLElement {
  const key = element('kbd', { 'aria-hidden': 'true' }, 'F6')
  const button = element(
    'button',
    { type: 'button', class: 'sign-in-submit', 'aria-keyshortcuts': 'F6' },
    signInTexts.signInAgain,
    key,
  )
  button.addEventListener('click', signIn)
  const text = element('p', { role: 'alert' }, signInTexts.sessionEnded)
  const bar = element('div', { class: ['sign-in', 'sign-in-bar'].join(' ') }, text, button)
  // The focus stays where it is, and lists that close at a press outside stay open.
  for (const press of ['pointerdown', 'mousedown', 'touchstart'])
    bar.addEventListener(press, (event) => {
      event.stopPropagation()
      if (press === 'mousedown') event.preventDefault()
    })
  document.body.append(bar)
  const field = document.activeElement?.closest(FIELDS)
  if (field && field.getBoundingClientRect().top < bar.offsetHeight + 24)
    bar.classList.add('sign-in-bar-below')
  return bar
}
