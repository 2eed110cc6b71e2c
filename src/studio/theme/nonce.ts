/** What style tags must carry to be allowed by the content security policy; the server puts a new one into each page. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}
