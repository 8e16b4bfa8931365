/* Lets the search work where pages are opened from a folder.
 *
 * Browsers refuse to start a Worker from a file. There, and only there, this gives the
 * page a Worker that is a hidden frame: it runs the same script and passes messages on,
 * each a copy and each in a turn of its own, as a Worker's are.
 */
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const inner = this.frame.contentWindow
      inner.postMessage = message => {
        const data = structuredClone(message)
        setTimeout(() => this.onmessage?.(new MessageEvent("message", { data })))
      }
      const script = inner.document.createElement("script")
      script.src = url
      script.onerror = () => this.onerror?.(new Event("error", { cancelable: true }))
      this.loaded = new Promise(done => { script.onload = done })
      inner.document.body.appendChild(script)
    }
    postMessage(message) {
      const inner = this.frame.contentWindow
      const data = structuredClone(message)
      this.loaded.then(() => setTimeout(() => inner.dispatchEvent(new inner.MessageEvent("message", { data }))))
    }
    terminate() {
      this.frame.remove()
    }
  }
}
