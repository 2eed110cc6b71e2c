/**
 * Forms of passkeys: their hidden input has what a device is to sign. The button asks the device, puts the credential in its place and sends
 * the form. Where one signs in, the browser offers passkeys with the names that it fills in.
 */
import { tell } from './swap.js'

/** Of an offer that waits in the list of names: there can be one. */
let waiting = new AbortController()
/** Ends with it: a browser asks a device for one thing at a time. */
let offered = Promise.resolve()

/** @param {ParentNode} part */
export function offerPasskeys(part) {
  const form = part.querySelector('#form-passkey')
  const input = form?.querySelector('input[name="passkey"]')
  if (!(form instanceof HTMLFormElement) || !(input instanceof HTMLInputElement)) return
  waiting.abort()
  if (typeof PublicKeyCredential === 'undefined') {
    form.hidden = true
    return
  }
  const options = optionsIn(input.value)
  // A form that was refused has the credential still.
  if (options?.challenge === undefined) return
  let isDone = false
  /** @param {Credential | null} credential */
  const send = (credential) => {
    if (!(credential instanceof PublicKeyCredential)) return
    input.value = JSON.stringify(short(credential.toJSON()))
    isDone = true
    form.requestSubmit()
  }
  form.addEventListener('submit', (event) => {
    if (isDone || !form.checkValidity()) return
    event.preventDefault()
    waiting.abort()
    void offered.then(() => ask(options)).then(send, () => tell(form.dataset.refused ?? ''))
  })
  if (options.rpId !== undefined && document.querySelector('input[autocomplete~="webauthn"]'))
    offered = offerWithNames(options).then(send, () => undefined)
}

/** @param {string} text */
function optionsIn(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @param {any} options */
function ask(options) {
  return options.rp === undefined
    ? navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
    : navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
}

/** @param {any} options */
async function offerWithNames(options) {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return null
  waiting = new AbortController()
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  return navigator.credentials.get({ publicKey, mediation: 'conditional', signal: waiting.signal })
}

/**
 * What the server reads: a form of it is short.
 * @param {any} credential
 */
function short({ id, rawId, type, response }) {
  const { clientDataJSON, authenticatorData, signature, userHandle, attestationObject, transports } = response
  const answer = attestationObject
    ? { clientDataJSON, attestationObject, transports }
    : { clientDataJSON, authenticatorData, signature, userHandle }
  return { id, rawId, type, clientExtensionResults: {}, response: answer }
}
