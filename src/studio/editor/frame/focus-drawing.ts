/** Gives the keyboard back to the row of the outline, or to the block on the canvas, that it was at. */
export function focusDrawing(): void {
  const place =
    document.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]') ??
    document.querySelector<HTMLElement>('.react-flow__node.selected')
  if (place) place.focus()
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
}
