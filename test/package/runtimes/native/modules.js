/**
 * Stands in for the native half of React Native, below its JavaScript: the modules Networking, BlobModule and
 * FileReaderModule. This file runs in Node and in Hermes, and uses the language alone.
 * @param send sends a request and calls back with an error's text or with `{ status, headers, url, text, base64 }`.
 *   It returns what aborts the request
 */
globalThis.installNativeModules = (send) => {
  const blobs = new Map()
  const aborts = new Map()
  let lastId = 0

  const emit = (name, ...values) => globalThis.__rctDeviceEventEmitter.emit(name, values)

  const keepBlob = ({ text, base64 }) => {
    const blobId = `blob-${++lastId}`
    blobs.set(blobId, { text, base64 })
    return { blobId, offset: 0, size: base64.length, type: '' }
  }

  const MODULES = {
    Networking: {
      sendRequest({ method, url, headers, data, responseType }, callback) {
        const id = ++lastId
        callback(id)
        const request = { method, url, headers, body: data?.string }
        const abort = send(request, (error, answer) => {
          if (!error) {
            emit('didReceiveNetworkResponse', id, answer.status, answer.headers, answer.url)
            const data = responseType === 'blob' ? keepBlob(answer) : answer[responseType]
            emit('didReceiveNetworkData', id, data)
          }
          emit('didCompleteNetworkResponse', id, error, false)
        })
        aborts.set(id, abort)
      },
      abortRequest: (id) => aborts.get(id)(),
      addListener() {},
      removeListeners() {},
    },
    BlobModule: {
      getConstants: () => ({ BLOB_URI_SCHEME: 'blob', BLOB_URI_HOST: null }),
      addNetworkingHandler() {},
      release: (blobId) => blobs.delete(blobId),
    },
    FileReaderModule: {
      readAsText: ({ blobId }) => Promise.resolve(blobs.get(blobId).text),
      readAsDataURL: ({ blobId }) => Promise.resolve(`data:;base64,${blobs.get(blobId).base64}`),
    },
  }
  globalThis.__turboModuleProxy = (name) => MODULES[name] || null
  globalThis.nativeModuleProxy = {}
}
