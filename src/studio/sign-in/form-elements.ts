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
