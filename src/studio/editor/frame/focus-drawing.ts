/** Gives the keyboard back to the row of the outline, or to the block on the canvas, that it was at. */
export function focusDrawing(): void {
  const place =
    document.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]') ??
    document.querySelector<HTMLElement>('.react-flow__node.selected')
  if (place) place.focus()
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
}

/**
 * The same in a moment, when what is on the screen now has gone. Not if a key or button is pressed meanwhile: then the
 * user has chosen where the keyboard is, and moving it would send typed text elsewhere.
 */
export function focusDrawingIn(milliseconds: number): void {
  const pressed = new AbortController()
  const callOff = () => {
    clearTimeout(timer)
    pressed.abort()
  }
  const timer = setTimeout(() => {
    pressed.abort()
    focusDrawing()
  }, milliseconds)
  for (const kind of ['keydown', 'pointerdown'])
    addEventListener(kind, callOff, { capture: true, signal: pressed.signal })
}
