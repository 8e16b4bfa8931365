/* Lets the search work where pages are opened from a folder.
 *
 * Browsers refuse to start a Worker from a file. There, and only there, this gives the
 * page a Worker that is a hidden frame: it loads the same script and passes messages on.
 */
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const waiting = []
      this.postMessage = data => waiting.push(data)
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.tabIndex = -1
      document.body.appendChild(frame)
      const inner = frame.contentWindow
      inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      inner.importScripts = (...scripts) => scripts.reduce((before, src) => before.then(() => load(src)), Promise.resolve())
      const load = src => new Promise((done, failed) => {
        const script = inner.document.createElement("script")
        script.src = src
        script.onload = done
        script.onerror = failed
        inner.document.body.appendChild(script)
      })
      load(url).then(() => {
        this.postMessage = data => inner.dispatchEvent(new inner.MessageEvent("message", { data }))
        waiting.forEach(data => this.postMessage(data))
      })
    }
    terminate() {}
  }
}
