/** The QR code of an address, as the address of a picture. */
export async function qrPicture(uri: string): Promise<string> {
  const { renderSVG } = await import('uqr')
  return `data:image/svg+xml,${encodeURIComponent(renderSVG(uri, { border: 2 }))}`
}
