/** Points in time are written in the visitor's time zone, which the server cannot know. Days stay as they are. */

/** @param {ParentNode} part */
export function writeTimes(part) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: 'medium',
    timeStyle: 'short',
  })
  for (const time of part.querySelectorAll('time[data-local]')) {
    const moment = new Date(time.getAttribute('datetime') ?? '')
    if (Number.isNaN(moment.getTime())) continue
    time.setAttribute('title', time.textContent ?? '')
    time.textContent = format.format(moment)
  }
}
