/**
 * Forms for which the server asks a proof of work: `data-proof` has the challenge. It is solved while the form is filled in, and the solution is sent
 * with it.
 */
import { tell } from './swap.js'

/** @param {ParentNode} part */
export function solveProofs(part) {
  for (const form of part.querySelectorAll('form[data-proof]'))
    if (form instanceof HTMLFormElement) solveFor(form)
}

/** @param {HTMLFormElement} form */
function solveFor(form) {
  const input = form.querySelector('input[name="_proof"]')
  if (!(input instanceof HTMLInputElement)) return
  /** @type {Promise<void> | undefined} */
  let work
  const solved = () => {
    work ??= solutionOf(form.dataset.proof ?? '').then((found) => {
      input.value = found
    })
    return work
  }
  form.addEventListener('focusin', () => void solved().catch(() => undefined), { once: true })
  form.addEventListener('submit', (event) => {
    // A form cannot be sent again while its event is under way: what is solved goes on at once.
    if (input.value !== '') return
    event.preventDefault()
    form.ariaBusy = 'true'
    solved()
      .finally(() => {
        form.ariaBusy = null
      })
      .then(
        () => form.requestSubmit(),
        () => {
          work = undefined
          tell()
        },
      )
  })
}

/**
 * @param {string} challenge
 * @returns {Promise<string>}
 */
function solutionOf(challenge) {
  const worker = new Worker(new URL('proof-worker.js', import.meta.url), { type: 'module' })
  const { promise, resolve, reject } = Promise.withResolvers()
  worker.onmessage = ({ data }) => resolve(data)
  worker.onerror = reject
  worker.postMessage(challenge)
  return promise.finally(() => worker.terminate())
}
